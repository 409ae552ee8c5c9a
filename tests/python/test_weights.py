"""Shares are of CPU time: a thread that ticks cost too much gets few samples, of much time each."""

import io
import json

import pytest
from isoscope import Process, Profile, bottom_up, call_tree, formats
from isoscope.cli import main
from isoscope.errors import IsoscopeError
from isoscope.live import StillWindow
from isoscope.model import Function
from isoscope.trees import difference, hot_spots, layout

SLOWED_US = 8000


def profile_of(*rows, state="Running"):
    """rows: thread, function, microseconds of a sample; every millisecond one."""
    profile = Profile()
    profile.period_us = profile.true_period_us = 1000
    process = Process("isolates/42", "app", 42)
    for place, (name, function, weight_us) in enumerate(rows, 1):
        thread = profile.thread(process, 42 + len(name), name)
        frame = profile.frame(Function(f"functions/{function}", function, None), 1)
        node = profile.node(0, frame)
        profile.add_sample(place * 1000, thread, node, weight_us=weight_us, state=state)
    return profile


@pytest.fixture
def throttled():
    """Two threads of 16 ms each, one of them throttled to an eighth."""
    return profile_of(*[("busy", "spin", 1000)] * 16, *[("switching", "hash", SLOWED_US)] * 2)


def shares(tree):
    return {node.name: tree.share(node.total_weight) for node, _ in tree.walk()}


def test_a_throttled_thread_has_its_share_of_the_time(throttled):
    tree = call_tree(throttled, group="thread")
    assert sorted(tree.share(root.total_weight) for root in tree.roots) == [0.5, 0.5]
    assert shares(bottom_up(tree)) == {"spin": 0.5, "hash": 0.5}
    assert {spot.row.name: spot.share for spot in hot_spots(throttled).spots} == {
        "spin": 0.5, "hash": 0.5
    }  # fmt: skip
    assert [box.width for box in layout(tree).rows[0]] == [16_000, 16_000]


def test_samples_are_counted_where_they_are_asked_for(throttled):
    tree = call_tree(throttled, group="all", weight="samples")
    assert {row.name: row.self_weight for row in tree.functions()} == {"spin": 16, "hash": 2}
    with pytest.raises(IsoscopeError, match="kilos"):
        call_tree(throttled, weight="kilos")


def test_wall_mode_counts_looks_at_threads():
    profile = profile_of(*[("busy", "spin", 1000)] * 2, *[("sleeper", "poll", 0)] * 2)
    profile.states[-1] = profile.states[-2] = profile.vm_tag("Sleep")
    assert shares(call_tree(profile, group="all")) == {"all": 1, "spin": 0.5, "poll": 0.5}
    # A part of it counts them, too.
    assert call_tree(profile.choose([0, 1])).by_time is False


def test_a_profile_of_plain_counts_has_nothing_but_samples():
    tree = call_tree(profile_of(("a", "f", 0), ("a", "g", 0)), group="all")
    assert (tree.by_time, tree.weight) == (False, 2)


def test_top_goes_by_the_time(throttled):
    window = StillWindow(throttled, 1_000_000)
    rows = {row.function.name: (row.self_count, row.self_us, row.total_us)
            for row in window.functions()}  # fmt: skip
    assert window.by_time and rows == {"spin": (16, 16_000, 16_000), "hash": (2, 16_000, 16_000)}


def test_what_changed_is_time(throttled):
    before = profile_of(("busy", "spin", 1000))
    changes = difference(call_tree(before, group="all"), call_tree(throttled, group="all"))
    assert {row.item.name: row.self_change for row in changes.rows} == {"hash": 0.5, "spin": -0.5}
    with pytest.raises(IsoscopeError, match="cannot be compared"):
        difference(call_tree(before), call_tree(throttled, weight="samples"))


def written(profile, name):
    out = io.BytesIO()
    formats.write(profile, name, out)
    return out.getvalue().decode()


def test_files_agree_with_the_tree(throttled):
    assert written(throttled, "folded") == "hash 16000\nspin 16000\n"
    firefox = json.loads(written(throttled, "firefox"))
    assert [
        (sum(thread["samples"]["weight"]), thread["samples"]["weightType"])
        for thread in firefox["threads"]
    ] == [(16, "tracing-ms")] * 2


def test_devtools_which_counts_samples_gets_as_many_as_there_are_periods(throttled):
    snapshot = json.loads(written(throttled, "devtools"))["cpu-profiler"]
    events = snapshot["traceEvents"]
    frames = [event["sf"] for event in events]
    assert snapshot["sampleCount"] == len(events) == 32
    assert {frames.count(frame) for frame in set(frames)} == {16}
    times = [event["ts"] for event in events]
    assert times == sorted(set(times))


def test_devtools_gets_no_two_samples_of_one_moment():
    """It takes the middle gap between them for the period."""
    rows = [(name, "poll", 0) for _ in range(50) for name in ("a", "bb", "ccc", "dddd")]
    profile = profile_of(*rows, state="Sleep")
    for place in range(len(profile)):
        profile.times_us[place] = 1000 * (1 + place // 4)
    events = json.loads(written(profile, "devtools"))["cpu-profiler"]["traceEvents"]
    times = [event["ts"] for event in events]
    gaps = sorted(after - before for before, after in zip(times, times[1:]))
    assert gaps[0] == gaps[-1] == 250


def test_the_commands_weigh_by_time_and_count_where_it_is_asked(throttled, tmp_path, capsys):
    path = tmp_path / "throttled.json"
    path.write_text(written(throttled, "cpusamples"))
    main(["tree", "--group", "thread", str(path)])
    by_time = capsys.readouterr().out
    assert by_time.splitlines()[0].endswith("32.0 ms of CPU time: one per 1 ms")
    assert by_time.count(" 50.0 %") >= 4 and "88.9 %" not in by_time
    main(["tree", "--group", "thread", "--weight", "samples", str(path)])
    assert "88.9 %" in capsys.readouterr().out
    main(["diff", str(path), str(path)])
    assert "32.0 ms (18 samples) before, 32.0 ms (18 samples) after" in capsys.readouterr().out
