"""The text as a user sees it."""

from fakes import profile
from isoscope import CallTree, Function, Library, Process, Profile, call_tree
from isoscope.text import Style
from isoscope.trees.text import render_hot, render_path, render_summary, render_tree

SPLIT = {"_start;main;spin_twice": 665, "_start;main;spin_once": 333, "_start;main": 2}


def tree_of(*processes):
    return CallTree.build(processes)


def test_a_tree_goes_right_only_where_the_ways_part():
    assert render_tree(tree_of(profile(SPLIT)), Style()) == [
        "  total     self  call tree      library",
        "100.0 %           app (42)",
        "100.0 %           _start         app",
        "100.0 %    0.2 %  main           app",
        " 66.5 %   66.5 %  ├─ spin_twice  app",
        " 33.3 %   33.3 %  └─ spin_once   app",
    ]


def test_the_same_in_samples_and_in_time():
    tree = tree_of(profile({"main;work": 2000, "main": 1}))
    assert render_tree(tree, Style(), unit="samples")[2:] == [
        "  2,001        1  main       app",
        "  2,000    2,000  work       app",
    ]
    assert render_tree(tree, Style(), unit="ms")[2:] == [
        "2,001.0      1.0  main       app",
        "2,000.0  2,000.0  work       app",
    ]


def test_small_functions_are_counted_together_when_that_is_not_small():
    stacks = {"main;big": 90, **{f"main;small{i}": 1 for i in range(10)}}
    assert render_tree(tree_of(profile(stacks)), Style(), min_share=0.05)[-2:] == [
        " 90.0 %   90.0 %  ├─ big                       app",
        " 10.0 %           └─ ... 10 smaller functions",
    ]


def test_small_functions_that_stay_small_together_are_left_out():
    stacks = {"main;big": 99, "main;small": 1}
    lines = render_tree(tree_of(profile(stacks)), Style(), min_share=0.05)
    assert lines[-1].split()[-2:] == ["big", "app"]


def test_a_depth_limit_says_what_lies_below():
    lines = render_tree(tree_of(profile(SPLIT)), Style(), depth=2)
    assert lines[-2:] == [
        "100.0 %    0.2 %  main        app",
        " 99.8 %           ... deeper",
    ]


def test_every_line_fits_the_width():
    name = "std::__detail::_Compiler<std::__cxx11::regex_traits<char> >::_M_disjunction()"
    comb, way = {}, "main"
    for i in range(60):
        comb[f"{way};left{i}"] = 3
        way += ";" + (name if i % 10 == 0 else f"right{i}")
        comb[way] = 3
    for width in (60, 80, 120):
        lines = render_tree(tree_of(profile(comb, name="x" * 40)), Style(width), min_share=0)
        assert max(len(line) for line in lines) <= width
        assert any("... deeper" in line for line in lines)


def test_a_long_name_loses_parameters_then_template_arguments_then_namespaces():
    name = "std::__detail::_Compiler<std::__cxx11::regex_traits<char> >::_M_disjunction()"
    shown = {
        width: render_hot(tree_of(profile({name: 1})), Style(width), 1)[-1].split()[4:-1]
        for width in (200, 103, 80, 60)
    }
    assert shown == {
        200: name.split(),
        103: name[:-2].split(),
        80: ["std::__detail::_Compiler::_M_disjunction"],
        60: ["_Compiler::_M_disjunction"],
    }


def test_names_are_as_short_as_was_asked_for_without_a_terminal_too():
    name = "std::vector<int, std::allocator<int> >::push_back(int const&)"
    lines = render_tree(tree_of(profile({f"main;{name}": 1})), Style(names=25))
    assert lines[-1].split()[4:] == ["std::vector::push_back", "app"]


def test_a_library_keeps_its_end():
    tree = tree_of(profile({"main": 1}, name="a-very-long-name-of-a-library-of-version.so.6"))
    line = render_hot(tree, Style(70), 1)[-1]
    assert line.endswith("version.so.6") and "..." in line and len(line) <= 70


def test_the_hottest_functions_come_by_self_and_only_where_there_is_any():
    lines = render_hot(tree_of(profile(SPLIT)), Style(), 10)
    assert [line.split()[-2] for line in lines[1:]] == ["spin_twice", "spin_once", "main"]
    assert len(render_hot(tree_of(profile(SPLIT)), Style(), 1)) == 2


def test_the_hot_path_is_a_straight_list():
    lines = render_path(tree_of(profile(SPLIT)), Style())
    assert [line.split()[-2] for line in lines[2:]] == ["_start", "main", "spin_twice"]


def test_a_hot_path_that_parts_says_into_how_many():
    stacks = {"main;work": 1, **{f"main;work;f{i}": 1 for i in range(40)}}
    lines = render_path(tree_of(profile(stacks)), Style())
    assert lines[-2:] == [
        "100.0 %    2.4 %  work                    app",
        " 97.6 %           ... 40 callees",
    ]


def test_the_summary_tells_samples_time_and_period():
    assert render_summary(tree_of(profile({"main": 2001}))) == [
        "2,001 samples over 2.00 s, 2,001.0 ms of CPU time: one per 1 ms"
    ]
    two = tree_of(profile({"main": 1}), profile({"main": 1}, pid=43))
    assert render_summary(two) == ["2 samples of 2 processes, 2.0 ms of CPU time: one per 1 ms"]


def test_the_summary_tells_what_is_missing_when_it_is_more_than_a_little():
    tree = tree_of(profile({"main": 200}))
    tree.lost.update(ring_full=1)
    tree.cut_count = 1
    assert len(render_summary(tree)) == 1
    tree.lost.update(ring_full=1999, no_slot=1)
    tree.cut_count = 5
    tree.true_period_us = 4000
    assert render_summary(tree) == [
        "200 samples over 0.20 s, 200.0 ms of CPU time: one per 4 ms (1 ms requested)",
        "2,001 samples lost: ring_full 2,000, no_slot 1",
        "2.5 % of the stacks are truncated: they do not reach the thread's start",
    ]
    tree.runtimes = frozenset({"java", "some-other"})
    assert "-XX:+PreserveFramePointer" in render_summary(tree)[-1]
    tree.cut_count = 1
    assert "Java" not in "".join(render_summary(tree))


def test_a_hostile_name_reaches_no_terminal():
    lines = render_tree(tree_of(profile({"evil\x1b[2J\r\nname": 1})), Style(colour=False))
    assert "\x1b" not in "".join(lines) and lines[-1].split()[-2] == "evil?[2J??name"


def test_colours_are_only_where_asked():
    assert "\x1b[1m" in "".join(render_tree(tree_of(profile(SPLIT)), Style(colour=True)))
    assert "\x1b" not in "".join(render_tree(tree_of(profile(SPLIT)), Style()))


def test_roots_that_are_too_small_for_a_line_are_counted_in_one():
    tree = CallTree.build(
        [profile({"work": 300}, name="busy", pid=1)]
        + [profile({"work": 1}, name="idle", pid=pid) for pid in (2, 3)]
    )
    assert render_summary(tree)[0].startswith("302 samples of 3 processes")
    rows = render_tree(tree, Style(), unit="samples")
    assert rows[-1].split() == ["2", "...", "2", "smaller", "processes"]


def test_the_summary_says_what_would_name_functions_without_a_name():
    def lines(library, *, others=1):
        made = Profile()
        made.period_us = 1000
        owner = Library(library, library, library) if library else None
        thread = made.thread(Process("isolates/1", "app", 1), 1)
        for function, count in (
            (Function("1", "0x12", owner, kind="Unnamed"), 1),
            (Function("2", "main", Library("node", "node", "node"), kind="Native"), others),
        ):
            node = made.node(0, made.frame(function))
            for _ in range(count):
                made.add_sample(0, thread, node, weight_us=1000)
        return render_summary(call_tree(made))[1:]

    assert lines("libx.so") == [
        "50.0 % of the CPU time is in functions without a name, most of it in libx.so",
        "  libx.so: install its debug symbols, or record with `isoscope run --debuginfod`",
    ]
    assert "--interpreted-frames-native-stack" in lines("")[1]
    assert lines("libx.so", others=20) == []
