"""Events of a program whose events are known: all are kept, paired, nested, and the same in a session file."""

from __future__ import annotations

import os
import signal
from collections import Counter

import pytest
from harness import Client, profiled, record, service_of, serving, until, workload
from isoscope import formats
from isoscope.timeline import CUT_OFF, INSTANT, KINDS, NO_BEGIN, SLICE, Timeline

ROUNDS = 50
# Of a round, by kind and name.
EACH_ROUND = {
    ("Slice", "round"): 1, ("Slice", "part"): 2, ("Slice", "take"): 1, ("Slice", "crossing"): 1, ("Counter", "heap"): 1,
    ("AsyncBegin", "request"): 1, ("AsyncEnd", "request"): 1, ("FlowBegin", "job"): 1, ("FlowEnd", "job"): 1,
    ("Instant", "done"): 1,
}  # fmt: skip
ONCE = {("Slice", "whole"): 1, ("Slice", ""): 1, ("Instant", "not � UTF-8"): 1}


def check_counts(timeline: Timeline) -> None:
    own = [event for event in timeline.events() if event.thread.name in ("teller", "taker", "tells_events")]
    counts = Counter((KINDS[event.kind], event.name) for event in own)
    frames = sum(n for (kind, _), n in counts.items() if kind == "Frame")
    assert frames == ROUNDS
    assert {key: n for key, n in counts.items() if key[0] != "Frame" and key in {**EACH_ROUND, **ONCE}} == {
        **{key: n * ROUNDS for key, n in EACH_ROUND.items()}, **ONCE
    }


def named(timeline: Timeline, name: str) -> list:
    return [event for event in timeline.events() if event.kind == SLICE and event.name == name]


def check_nesting(timeline: Timeline) -> None:
    rounds = sorted(named(timeline, "round"), key=lambda event: event.start_ns)
    (whole,) = named(timeline, "whole")
    for number, around in enumerate(rounds, 1):
        parts = [part for part in named(timeline, "part") if around.start_ns <= part.start_ns <= around.end_ns]
        assert len(parts) == 2
        assert all(part.end_ns <= around.end_ns and part.depth == around.depth + 1 for part in parts)
        assert around.depth == whole.depth + 1
        assert around.arguments == {"number": number}
        assert whole.start_ns <= around.start_ns and around.end_ns <= whole.end_ns
    assert whole.mark == CUT_OFF
    assert [event.mark for event in named(timeline, "")] == [NO_BEGIN]


def rows(timeline: Timeline) -> list:
    return sorted(
        (event.start_ns, event.duration_ns, event.kind, event.name, event.stream, event.depth, event.mark, event.id,
         event.thread.tid, sorted(event.arguments.items(), key=str))
        for event in timeline.events()
    )  # fmt: skip


def test_events_are_all_there_and_nest():
    with profiled([workload("tells_events"), str(ROUNDS)]) as service, Client(service.uri) as client:
        until(lambda: [event for event in named(client.timeline(), "whole") if event.mark == CUT_OFF], "its end")
        timeline = client.timeline()
    check_counts(timeline)
    check_nesting(timeline)


def test_a_program_that_is_killed_leaves_its_slices_cut_off():
    with service_of([workload("tells_events"), "1000000"]) as service, Client(service.uri) as client:
        until(lambda: named(client.timeline(), "round"), "a round")
        os.kill(service.program(), signal.SIGKILL)
        service.wait_for_end()
        until(lambda: [event for event in named(client.timeline(), "whole") if event.mark == CUT_OFF], "the end of slices")
        timeline = client.timeline()
    assert all(event.mark == "" for event in named(timeline, "part")[:-1])
    ended = [event for event in timeline.events() if event.name == "Process ended"]
    assert len(ended) == 1
    assert named(timeline, "whole")[0].end_ns <= ended[0].start_ns + 1000


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    file = tmp_path_factory.mktemp("events") / "events.isoscope"
    done = record(file, [workload("tells_events"), str(ROUNDS)])
    assert done.returncode == 0, done.stderr
    return file


def test_a_recorded_file_has_all_of_them(recorded):
    timeline = formats.parse(recorded.read_bytes()).timeline
    check_counts(timeline)
    check_nesting(timeline)


def test_a_file_that_is_served_says_the_same_as_the_file_itself(recorded):
    told = formats.parse(recorded.read_bytes()).timeline
    with serving(recorded) as service, Client(service.uri) as client:
        served = client.timeline()
    assert rows(served) == rows(told)


def test_what_is_saved_of_a_file_is_what_it_has(recorded):
    with serving(recorded) as service, Client(service.uri) as client:
        again = formats.parse(client.session()).timeline
    assert rows(again) == rows(formats.parse(recorded.read_bytes()).timeline)


def test_the_service_tells_when_a_process_came_and_ended(recorded):
    timeline = formats.parse(recorded.read_bytes()).timeline
    own = [event for event in timeline.events() if event.thread.tid == 0]
    names = [event.name for event in own]
    assert names[0] == "Process attached"
    assert "Sampling" in names and "Process ended" in names
    assert all(event.kind == INSTANT for event in own)
