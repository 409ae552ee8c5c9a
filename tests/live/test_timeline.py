"""What a program tells, by every way out: they agree, and with what the program did."""

from __future__ import annotations

import base64
import json
import subprocess
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from harness import DEADLINE_S, ISOSCOPE, Client, profiled, record, service_of, serving, until, workload
from isoscope import Timeline, slice_table
from isoscope.timeline import COUNTER, FRAME, KINDS
from perfetto_trace import decoded

ROUNDS = 40
SLICES = {"round": ROUNDS, "part": 2 * ROUNDS, "crossing": ROUNDS, "take": ROUNDS, "whole": 1}
BEGIN, END, INSTANT, COUNTED = 1, 2, 3, 4


@pytest.fixture(scope="module")
def service():
    with profiled([workload("tells_events"), str(ROUNDS)]) as service:
        yield service


@pytest.fixture(scope="module")
def timeline(service):
    with Client(service.uri) as client:
        return client.timeline()


def totals(timeline: Timeline) -> dict[str, tuple[int, int]]:
    return {row.name: (row.count, row.total_ns) for row in slice_table(timeline)}


def command(*words: str) -> subprocess.CompletedProcess:
    return subprocess.run([ISOSCOPE, *words], capture_output=True, text=True, timeout=DEADLINE_S, check=True)


def test_all_that_the_program_told_is_there(timeline):
    assert {name: count for name, (count, _) in totals(timeline).items()} == SLICES
    kinds = Counter(KINDS[event.kind] for event in timeline.events() if event.thread.tid)
    slices = sum(SLICES.values()) + 1  # and the end without a begin
    assert kinds == {
        "Slice": slices, "Instant": ROUNDS + 1, "AsyncBegin": ROUNDS, "AsyncEnd": ROUNDS,
        "FlowBegin": ROUNDS, "FlowEnd": ROUNDS, "Counter": ROUNDS, "Frame": ROUNDS,
    }  # fmt: skip
    assert timeline.history["unmatched"] == 1 and timeline.history["lost"] == 0
    (whole,) = (event for event in timeline.events() if event.name == "whole")
    assert whole.mark in ("Open", "CutOff")


def test_names_that_are_no_utf_8_are_mended(timeline):
    texts = {event.name for event in timeline.events()}
    assert "not \ufffd UTF-8" in texts
    said = {event.arguments.get("words") for event in timeline.events() if event.name == "done"}
    assert said == {'a "b" \ufffd'}


def test_slices_contain_those_within(timeline):
    events = [timeline.event(place) for place in timeline.slices()]
    rounds = [event for event in events if event.name == "round"]
    parts = [event for event in events if event.name == "part"]
    for part in parts:
        around = [one for one in rounds if one.start_ns <= part.start_ns and part.end_ns <= one.end_ns]
        assert len(around) == 1 and part.depth == around[0].depth + 1
    assert sum(part.duration_ns for part in parts) <= sum(one.duration_ns for one in rounds)


def test_totals_are_the_same_by_every_way(service, timeline, tmp_path):
    expected = {name: told for name, told in totals(timeline).items() if name != "whole"}  # it may go on
    names = json.loads(command("timeline", "--json", service.uri).stdout)["names"]
    assert {r["name"]: (r["count"], r["totalNanos"]) for r in names if r["name"] != "whole"} == expected

    file = tmp_path / "trace.json"
    command("export", "trace", "-o", str(file), service.uri)
    exported: defaultdict[str, list[int]] = defaultdict(list)
    for event in json.loads(file.read_text())["traceEvents"]:
        if event["ph"] == "X" and event["name"] != "whole":
            exported[event["name"]].append(round(event["dur"] * 1000))
    assert {name: (len(each), sum(each)) for name, each in exported.items()} == expected


def test_the_vms_timeline_has_the_same_slices(service, timeline):
    with Client(service.uri) as client:
        events = client.call("getVMTimeline")["traceEvents"]
    assert [e["ts"] for e in events if e["ph"] != "M"] == sorted(e["ts"] for e in events if e["ph"] != "M")
    open_: defaultdict[int, list] = defaultdict(list)
    found: defaultdict[str, list[int]] = defaultdict(list)
    for event in events:
        if event["ph"] == "B":
            open_[event["tid"]].append(event)
        elif event["ph"] == "E":
            begin = open_[event["tid"]].pop()
            assert begin["name"] == event["name"]
            found[event["name"]].append(event["ts"] - begin["ts"])
        elif event["ph"] == "X":
            found[event["name"]].append(event["dur"])
    for name, (count, total_ns) in totals(timeline).items():
        if name != "whole":
            assert len(found[name]) == count
            assert abs(sum(found[name]) * 1000 - total_ns) <= count * 1000  # whole microseconds
    phases = Counter(event["ph"] for event in events)
    assert phases["s"] == phases["f"] == phases["C"] == ROUNDS
    assert phases["b"] == phases["e"] == 2 * ROUNDS  # async events and frames


def test_windows_one_behind_the_other_have_each_side_once(service):
    with Client(service.uri) as client:
        whole = client.call("getVMTimeline")
        sides = [e for e in whole["traceEvents"] if e["ph"] in "BEibnesftC"]
        first, last = sides[0]["ts"], sides[-1]["ts"]
        step = (last - first) // 4 + 1
        parts = []
        for origin in range(first, last + 1, step):
            reply = client.call("getVMTimeline", timeOriginMicros=origin, timeExtentMicros=step - 1)
            parts += [e for e in reply["traceEvents"] if e["ph"] in "BEibnesftC"]
    assert parts == sides


def test_a_perfetto_trace_has_balanced_tracks_and_counters(service):
    with Client(service.uri) as client:
        packets = decoded(client.call("getPerfettoVMTimelineWithCpuSamples")["trace"])
    tracks = {t["uuid"][0] for p in packets for t in p.get("track", [])}
    names: Counter[str] = Counter()
    depths: Counter[int] = Counter()
    counted = 0
    for packet in sorted((p for p in packets if "event" in p), key=lambda p: p["timestamp"][0]):
        (event,) = packet["event"]
        (track,) = event["track"]
        assert track in tracks
        if event["type"] == [BEGIN]:
            names[event["name"][0]] += 1
            depths[track] += 1
        elif event["type"] == [END]:
            depths[track] -= 1
            assert depths[track] >= 0
        counted += event["type"] == [COUNTED]
    assert {name: names[name] for name in SLICES} == SLICES
    assert names["request"] == names["Frame"] == ROUNDS
    assert counted == 2 * ROUNDS  # two series
    assert sum(depths.values()) <= 1  # "whole" may stand open
    assert any("perf_sample" in packet for packet in packets)


def test_frames_have_their_parts_and_rate(service, timeline):
    with Client(service.uri) as client:
        told = client.call("_getFrames", refreshRate=60)
    assert told["frameCount"] == len(told["frames"]) == ROUNDS == sum(told["levels"].values())
    assert [frame["number"] for frame in told["frames"]] == list(range(1, ROUNDS + 1))
    elapsed = {e.id: e.duration_ns // 1000 for e in timeline.events() if e.kind == FRAME}
    for frame in told["frames"]:
        assert (frame["build"], frame["raster"], frame["vsyncOverhead"]) == (2000, 1, 5)
        assert frame["elapsed"] == elapsed[frame["number"]]
        assert frame["dropped"] == frame["elapsed"] // 16666 or frame["elapsed"] % 16666 < 2
        assert 1 <= frame["fps"] <= ROUNDS


def next_of(client: Client, stream: str, kind: str):
    """The next event of that kind; those before it are passed."""
    while True:
        event = client.next_event(stream, timeout_s=DEADLINE_S).event
        if event["kind"] == kind:
            return event


def test_streams_that_are_off_record_nothing():
    with service_of([workload("tells_events"), "100000000"]) as service, Client(service.uri) as client:
        until(lambda: "round" in totals(client.timeline()), "the first slices")
        flags = client.call("getVMTimelineFlags")
        assert {"Dart", "GC", "net", "io"} <= set(flags["availableStreams"])
        assert flags["recordedStreams"] == flags["availableStreams"]
        client.call("setVMTimelineFlags", recordedStreams=["Dart"])
        assert client.call("getVMTimelineFlags")["recordedStreams"] == ["Dart", "net", "io"]
        client.call("setVMTimelineFlags", recordedStreams=[])
        client.listen("Timeline")
        client.call("setVMTimelineFlags", recordedStreams=["GC"])
        update = next_of(client, "Timeline", "TimelineStreamSubscriptionsUpdate")
        assert update["updatedStreams"] == ["GC"]
        assert client.call("getVMTimelineFlags")["recordedStreams"] == ["GC"]

        def only_counters_come() -> bool:
            """What was on its way is read, and after that only what is on comes."""
            cursor = client.call("_getTimeline", count=1_000_000)["next"]
            until(lambda: client.call("_getTimeline", cursor=cursor)["eventCount"] > 10, "events")
            new = Timeline()
            new.add_reply(client.call("_getTimeline", cursor=cursor), [], open=False)
            return {e.kind for e in new.events() if e.thread.tid} == {COUNTER}

        until(only_counters_come, "counters alone")
        client.call("clearVMTimeline")
        client.call("setVMTimelineFlags", recordedStreams=["all"])
        until(lambda: "round" in totals(client.timeline()), "slices again")


def test_listeners_hear_of_slices_and_frames():
    with service_of([workload("tells_events"), "100000000"]) as service, Client(service.uri) as client:
        client.listen("Timeline", "Extension", "Profiler")

        told: set[str] = set()
        until(lambda: told.update(
            event["name"] for event in next_of(client, "Timeline", "TimelineEvents")["timelineEvents"]
        ) or {"round", "part", "heap", "thread_name"} <= told, "slices")  # fmt: skip
        frame = next_of(client, "Extension", "Extension")
        assert frame["extensionKind"] == "Flutter.Frame"
        assert frame["extensionData"]["build"] == 2000 and frame["extensionData"]["number"] > 0
        assert next_of(client, "Profiler", "_TimelineAvailable")["_events"] > 0


def test_a_recorded_session_tells_the_same(tmp_path):
    file = tmp_path / "told.isoscope"
    assert record(file, [workload("tells_events"), str(ROUNDS)]).returncode == 0
    by_file = json.loads(command("timeline", "--json", str(file)).stdout)["names"]
    with serving(file) as service, Client(service.uri) as client:
        by_service = json.loads(command("timeline", "--json", service.uri).stdout)["names"]
        assert by_service == by_file
        assert {row["name"]: row["count"] for row in by_file} == SLICES
        assert client.call("setVMTimelineFlags", recordedStreams=["Dart"])["type"] == "Success"
        with pytest.raises(Exception, match="cannot be cleared"):
            client.call("clearVMTimeline")


def test_a_program_that_tells_nothing_gives_the_reason():
    words = [ISOSCOPE, "timeline", "--stream", "Dart", "--", workload("spin_two_to_one"), "0.1"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode == 1
    assert "no events" in done.stderr or "no stream 'Dart' has events" in done.stderr


def test_exports_open_without_a_service(service, tmp_path):
    for name in ("firefox", "perfetto", "devtools-performance"):
        command("export", name, "-o", str(tmp_path / name), service.uri)
    firefox = json.loads((tmp_path / "firefox").read_text())
    strings = firefox["shared"]["stringArray"]
    markers = Counter(strings[n] for thread in firefox["threads"] for n in thread["markers"]["name"])
    assert {name: markers[name] for name in SLICES} == SLICES
    packets = decoded(base64.b64encode((tmp_path / "perfetto").read_bytes()).decode())
    begins = Counter(p["event"][0]["name"][0] for p in packets
                     if "event" in p and p["event"][0]["type"] == [BEGIN])  # fmt: skip
    assert {name: begins[name] for name in SLICES} == SLICES
    screen = json.loads((tmp_path / "devtools-performance").read_text())["performance"]
    assert bytes(screen["traceBinary"]) and len(screen["flutterFrames"]) == ROUNDS


LOADS_AND_UNLOADS = """
import _ctypes, ctypes, sys
def load():
    plugin = ctypes.CDLL(sys.argv[1])
    plugin.plugin_spin.argtypes = [ctypes.c_double]
    plugin.plugin_spin(0.2)
    return plugin
for step in sys.stdin:
    if step == "work\\n":
        sum(range(10 ** 7))
    elif step == "load\\n":
        plugin = load()
    else:
        _ctypes.dlclose(plugin._handle)
    print(step, end="", flush=True)
"""


def test_a_library_is_told_when_it_comes_when_it_goes_and_when_it_comes_again():
    plugin = Path(workload("dlopen_plugin")).parent / "spin_plugin.so"
    program = ["/usr/bin/python3", "-c", LOADS_AND_UNLOADS, str(plugin)]
    with service_of(program, "--quiet", stdin=subprocess.PIPE) as service, Client(service.uri) as client:

        def told() -> list[str]:
            events = client.timeline().events()
            return [e.name for e in events if str(e.arguments.get("path", "")).endswith("spin_plugin.so")]

        def say(step: str) -> None:
            service.process.stdin.write(f"{step}\n".encode())
            service.process.stdin.flush()

        def ticks() -> int:
            return sum(client.call("getIsolate", isolateId=process.id)["_process"]["counters"]["ticks"]
                       for process in client.processes())

        # What it begins with is known then, and not told.
        say("work")
        until(lambda: ticks() > 20, "ticks")
        expected: list[str] = []
        for step, name in (("load", "Library loaded"), ("unload", "Library unloaded"),
                           ("load", "Library loaded"), ("unload", "Library unloaded")):  # fmt: skip
            expected.append(name)
            say(step)
            until(lambda: told() == expected, f"{len(expected)} events")
