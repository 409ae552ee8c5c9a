"""Parts of a profile, by hand-made stacks."""

import pytest
from isoscope import Function, Library, Process, Profile, filters
from isoscope.filters import NoMatch

LIBC = Library("libraries/2", "file:///usr/lib/libc.so.6", "libc.so.6", system=True)
APP = Library("libraries/1", "file:///opt/app", "app")


def profile_of(*samples):
    """("main;work", {"thread": "io", "pid": 2, "tag": "parse"}), ...; a name in [] is of libc."""
    profile = Profile()
    profile.period_us = 1000
    for place, (stack, told) in enumerate(samples):
        pid = told.get("pid", 1)
        name = told.get("thread", "main")
        process = Process(f"isolates/{pid}", f"app{pid}")
        thread = profile.thread(process, pid * 100 + len(name), name)
        node = 0
        for function in stack.split(";"):
            library = LIBC if function.startswith("[") else APP
            node = profile.node(node, profile.frame(Function(function, function, library)))
        profile.add_sample(place * 1000, thread, node, user_tag=told.get("tag", "Default"))
    return profile


def stacks(profile):
    return [
        ";".join(frame.function.name for frame in reversed(profile.stack(node)))
        for node in profile.nodes
    ]


THREE = profile_of(
    ("main;parse;[memcpy]", {"tag": "parse"}),
    ("main;print", {"thread": "io"}),
    ("[clone];work;parse", {"pid": 2}),
)


def test_a_process_is_found_by_name_or_number():
    for wanted in ("app2", "2", "isolates/2"):
        assert stacks(filters.by_process(THREE, wanted)) == ["[clone];work;parse"]


def test_a_thread_is_found_by_name_or_tid():
    for wanted in ("io", "102"):
        assert stacks(filters.by_thread(THREE, wanted)) == ["main;print"]


def test_a_tag_keeps_its_samples():
    assert stacks(filters.by_tag(THREE, "parse")) == ["main;parse;[memcpy]"]


def inlining():
    """step is inlined into loop twice, and once into nobody that is known."""
    profile = Profile()
    thread = profile.thread(Process("isolates/1", "app1"), 1)
    frames = {
        name: (Function(name, name, APP), 3, inlined)
        for name, inlined in (("main", False), ("loop", False), ("step", True), ("add", True))
    }
    for stack in ("main;loop;step;add", "main;loop", "step;main"):
        node = 0
        for name in stack.split(";"):
            node = profile.node(node, profile.frame(*frames[name]))
        profile.add_sample(0, thread, node, weight_us=1)
    return profile


def test_without_inlining_a_function_has_what_is_inlined_into_it():
    folded = filters.by_stack(inlining(), inline=False)
    assert stacks(folded) == ["main;loop", "main;loop", "step;main"]
    assert folded.nodes[0] == folded.nodes[1]


def test_what_is_inlined_can_be_focused_on_and_folded():
    assert stacks(filters.by_stack(inlining(), focus="^add$", inline=False)) == ["main;loop"]


def test_focus_keeps_whole_stacks_wherever_the_function_is_on_them():
    assert stacks(filters.by_stack(THREE, focus="^parse$")) == [
        "main;parse;[memcpy]",
        "[clone];work;parse",
    ]


def test_ignore_drops_them():
    assert stacks(filters.by_stack(THREE, ignore="parse")) == ["main;print"]


def test_hide_takes_frames_out_and_what_they_did_is_their_callers():
    hidden = filters.by_stack(THREE, hide="parse|work")
    assert stacks(hidden) == ["main;[memcpy]", "main;print", "[clone]"]
    assert list(hidden.times_us) == list(THREE.times_us)
    assert stacks(THREE)[0] == "main;parse;[memcpy]"


def test_a_sample_of_which_nothing_is_left_is_left_out():
    assert stacks(filters.by_stack(THREE, hide="main|print")) == [
        "parse;[memcpy]",
        "[clone];work;parse",
    ]


def test_system_libraries_can_be_hidden():
    shown = stacks(filters.by_stack(THREE, system=False))
    assert shown == ["main;parse", "main;print", "work;parse"]


@pytest.mark.parametrize(
    "act, said",
    [
        (lambda: filters.by_stack(THREE, focus="prase"), "'prase' matches no function; similar: parse"),
        (lambda: filters.by_stack(THREE, hide="^zzz"), "there are: [clone], [memcpy], main"),
        (lambda: filters.by_thread(THREE, "oi"), "no thread 'oi'; similar: io"),
        (lambda: filters.by_tag(THREE, "x"), "no tag 'x'; there are: Default, parse"),
        (lambda: filters.by_process(THREE, "zsh"), "there are: app1 (1), app2 (2)"),
    ],
)
def test_what_is_not_there_is_named_with_what_comes_near(act, said):
    with pytest.raises(NoMatch) as error:
        act()
    assert said in str(error.value)
