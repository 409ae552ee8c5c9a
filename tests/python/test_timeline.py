"""What programs told: replies as columns, slices by name, the command, and files of them."""

import copy
import io
import json
from collections import Counter

import pytest
from fakes import FakeService
from isoscope import Client, Process, Profile, Timeline, cli, formats, slice_table
from isoscope.cli import source as source_of_commands
from isoscope.errors import CannotWrite, ProtocolError
from isoscope.formats.protobuf import fields
from isoscope.timeline.slices import self_times
from profiles import synthetic
from timelines import BASE_NS, EVENTS, PROCESS, TOTALS_NS, history, reply, timeline

URI = "http://127.0.0.1:8181/token=/"
VM = {"type": "VM", "isolates": [{"id": PROCESS.id, "name": "game:main()"}]}


def service(**answers):
    told = {"getVM": lambda params: VM, "_getTimeline": paged, **answers}
    return FakeService(told)


def paged(params):
    """Five events a reply."""
    cursor = params.get("cursor", "1.0.0")
    return reply(int(cursor.split(".")[1]), 5)


def read(fake):
    with Client(transport=fake) as client:
        return client.timeline()


def plain(events):
    """A thread is an object of its timeline's."""
    return [event._replace(thread=vars(event.thread)) for event in events]


# Replies.


def test_a_reply_becomes_its_events():
    whole = Timeline()
    assert whole.add_reply(reply(), [PROCESS], open=True) == len(EVENTS) - 1
    assert plain(whole.events()) == plain(EVENTS)


def test_pages_make_one_timeline_and_the_last_ones_open_slices():
    fake = service()
    assert plain(read(fake).events()) == plain(EVENTS)
    asked = [r["params"] for r in fake.requests if r["method"] == "_getTimeline"]
    assert [params.get("cursor") for params in asked] == [None, "1.5.0", "1.10.0"]


def test_a_reset_in_the_middle_begins_anew():
    def answers(params):
        told = paged(params)
        if params.get("cursor") == "1.5.0":
            told = {**reply(0, 5), "reset": True, "next": "1.5.1"}
        return told

    assert plain(read(service(_getTimeline=answers)).events()) == plain(EVENTS)


@pytest.mark.parametrize("column", ["durations", "names", "threads", "startDeltas"])
def test_columns_of_different_lengths_are_refused(column):
    broken = reply()
    broken["blocks"][0][column].pop()
    with pytest.raises(ProtocolError, match=column):
        Timeline().add_reply(broken, [], open=True)


@pytest.mark.parametrize("change", [
    lambda block: block["names"].__setitem__(0, 10_000),
    lambda block: block["kinds"].__setitem__(0, 99),
    lambda block: block["durations"].__setitem__(0, -1 << 70),
    lambda block: block["durations"].__setitem__(0, "long"),
    lambda block: block["ids"].__setitem__(0, "no number"),
    lambda block: block.pop("texts"),
])  # fmt: skip
def test_a_reply_that_is_broken_is_refused(change):
    broken = copy.deepcopy(reply())
    change(broken["blocks"][0])
    with pytest.raises(ProtocolError, match="_getTimeline"):
        Timeline().add_reply(broken, [], open=True)


def test_a_window_has_what_overlaps_it():
    part = timeline().window(BASE_NS + 45_000, BASE_NS + 60_000)
    assert {event.name for event in part.events()} == {"parse", "load", "job", "Frame"}


# Slices.


def test_slices_by_name():
    rows = {row.name: row for row in slice_table(timeline())}
    assert {name: row.total_ns for name, row in rows.items()} == TOTALS_NS
    assert [row.name for row in slice_table(timeline())] == ["load", "wait", "parse", "read"]
    parse, wait = rows["parse"], rows["wait"]
    assert (parse.count, parse.max_ns, parse.percentile_ns(50), parse.percentile_ns(95)) == (
        2, 20_000, 10_000, 20_000,
    )  # fmt: skip
    assert (wait.open, wait.count) == (1, 1)


def test_self_time_is_without_the_slices_inside():
    rows = {row.name: row.self_ns for row in slice_table(timeline())}
    assert rows["load"] == 100_000 - 30_000  # read crosses it
    assert rows["read"] == 30_000


def test_self_times_of_a_thousand_levels():
    deep = Timeline()
    for depth in reversed(range(1000)):
        deep.add(EVENTS[0]._replace(start_ns=depth, duration_ns=2000 - 2 * depth, depth=depth))
    own = self_times(deep)
    assert sum(own.values()) == 2000 and max(own.values()) == 2


# The command.


@pytest.fixture
def run(monkeypatch, capsys):
    def run(fake, *words):
        def connect(uri, name=None):
            return Client(transport=fake)

        monkeypatch.setattr(source_of_commands, "Client", connect)
        try:
            status = cli.main(["timeline", URI, *words])
        except SystemExit as end:
            status = end.code
        out, err = capsys.readouterr()
        return status, out, err

    return run


def test_names_are_printed_with_their_times(run):
    status, out, err = run(service())
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split() == ["count", "total", "self", "p50", "p95", "max", "slice", "stream"]
    assert lines[1].split() == ["1", *["100.000", "µs"], *["70.000", "µs"], *["100.000", "µs"] * 3, "load", "Dart"]
    assert "wait (1 open)" in out


def test_json_has_every_figure(run):
    status, out, _ = run(service(), "--json")
    rows = {row["name"]: row for row in json.loads(out)["names"]}
    assert {name: row["totalNanos"] for name, row in rows.items()} == TOTALS_NS
    assert rows["parse"] == {
        "name": "parse", "stream": "Dart", "count": 2, "totalNanos": 30_000, "selfNanos": 30_000,
        "p50Nanos": 10_000, "p95Nanos": 20_000, "maxNanos": 20_000, "open": 0, "cutOff": 0,
    }  # fmt: skip


def test_the_longest_come_with_their_arguments(run):
    _, out, _ = run(service(), "--longest", "2", "--name", "parse")
    assert out.splitlines()[1].split()[:2] == ["20.000", "µs"] and 'file=a"b, size=-3' in out
    assert len(out.splitlines()) == 3


@pytest.mark.parametrize("words, names", [
    (["--stream", "io"], {"read"}),
    (["--thread", "other"], {"wait"}),
    (["--thread", "4243"], {"wait"}),
    (["--name", "^(load|read)$"], {"load", "read"}),
    (["--to", "0.035ms"], {"load", "parse"}),
    (["--from", "0.06ms", "--to", "0.095ms"], {"load", "read"}),
])  # fmt: skip
def test_filters_leave_their_slices(run, words, names):
    _, out, _ = run(service(), "--json", *words)
    assert {row["name"] for row in json.loads(out)["names"]} == names


@pytest.mark.parametrize("words, why", [
    (["--thread", "nobody"], "no thread 'nobody' has events; there are: main, other"),
    (["--stream", "no"], "no stream 'no' has events; there are: Dart, Embedder, io"),
    (["--name", "nothing"], "no slices match the filters"),
    (["--from", "9"], "no events in this range"),
    (["--longest", "3", "--rows", "2"], "--longest has its own number"),
])  # fmt: skip
def test_what_leaves_nothing_is_told(run, words, why):
    status, out, err = run(service(), *words)
    assert status in (1, 2) and not out and why in err


def empty(**more):
    told = {"type": "_TimelineTable", "kinds": reply()["kinds"], "next": "0.0.0", "blocks": [],
            "open": [], "eventCount": 0, "openCount": 0}  # fmt: skip
    return lambda params: {**told, "history": {**history(0), **more}}


@pytest.mark.parametrize("more, streams, why", [
    ({}, ["Dart"], "the program has told none"),
    ({"lost": 12}, ["Dart"], "all 12 were lost"),
    ({"evicted": 7}, ["Dart"], "7 were let go of"),
    ({}, [], "no stream is recorded"),
])  # fmt: skip
def test_why_there_are_none(run, more, streams, why):
    flags = {"recordedStreams": streams}
    fake = service(_getTimeline=empty(**more), getVMTimelineFlags=lambda params: flags)
    status, out, err = run(fake)
    assert status == 1 and not out and why in err


def test_a_service_without_the_method_is_told(run):
    fake = service()
    del fake.answers["_getTimeline"]
    status, _, err = run(fake)
    assert status == 1 and "_getTimeline" in err


def test_losses_are_told_above_the_table(run):
    def with_losses(params):
        return {**paged(params), "history": {**history(9), "lost": 1234}}

    _, out, _ = run(service(_getTimeline=with_losses))
    assert out.splitlines()[0].startswith("1,234 events lost")


# Files.


def with_events(samples=True):
    profile = synthetic() if samples else Profile()
    profile.timeline = timeline()
    return profile


def written(name, profile):
    out = io.BytesIO()
    formats.write(profile, name, out)
    return out.getvalue()


def test_trace_events_have_the_same_totals():
    events = json.loads(written("trace", with_events()))["traceEvents"]
    totals = Counter()
    for event in events:
        if event["ph"] == "X":
            totals[event["name"]] += round(event["dur"] * 1000)
    assert totals == TOTALS_NS
    assert Counter(event["ph"] for event in events if event["ph"] not in "MX") == {
        "i": 2, "C": 1, "b": 3, "e": 3, "s": 1, "f": 1,
    }  # fmt: skip
    (parse,) = (e for e in events if e["name"] == "parse" and "args" in e)
    assert (parse["ts"], parse["dur"], parse["cat"]) == (5_000_010, 20, "Dart")
    assert {e["id"] for e in events if e["name"] == "request"} == {"ffffffffffffffff"}


def test_a_profile_of_events_alone_can_be_written():
    for name in ("trace", "perfetto", "firefox", "devtools-performance"):
        assert written(name, with_events(samples=False))


def test_without_events_there_is_no_trace():
    with pytest.raises(CannotWrite, match="no events"):
        written("trace", synthetic())


def test_firefox_has_them_as_markers():
    told = json.loads(written("firefox", with_events()))
    strings = told["shared"]["stringArray"]
    lengths = Counter()
    for thread in told["threads"]:
        markers = thread["markers"]
        for name, start, end, phase, data in zip(*(markers[c] for c in ("name", "startTime", "endTime", "phase", "data"))):
            if data["type"] == "Event" and data["kind"] == "Slice" and phase == 1:
                lengths[strings[name]] += round((end - start) * 1e6)
    assert lengths == TOTALS_NS
    schemas = {schema["name"] for schema in told["meta"]["markerSchema"]}
    assert {m["type"] for t in told["threads"] for m in t["markers"]["data"]} <= schemas


def packets(data):
    return [dict_of(packet) for number, packet in fields(data) if number == 1]


def dict_of(message):
    told = {}
    for number, value in fields(message):
        told.setdefault(number, []).append(value)
    return told


def test_perfetto_nests_slices_and_puts_aside_what_crosses():
    told = packets(written("perfetto", with_events(samples=False)))
    tracks = {t[1][0]: t.get(2, [b""])[0].decode() for p in told for t in map(dict_of, p.get(60, []))}
    on = {}
    depths = Counter()
    for packet in told:
        for event in map(dict_of, packet.get(11, [])):
            track, kind = event[11][0], event[9][0]
            depths[track] += {1: 1, 2: -1}.get(kind, 0)
            assert depths[track] >= 0
            if kind == 1:
                on.setdefault(event[23][0].decode(), set()).add(track)
    thread = 4242 << 32 | 4242
    assert on["load"] == on["parse"] == {thread}
    (aside,) = on["read"]
    assert aside != thread and tracks[aside] == "main (2)"
    assert tracks[on["Frame"].pop()] == "Frame" and tracks[on["request"].pop()] == "request"
    assert sum(depths.values()) == 1  # wait has not ended


def test_devtools_performance_has_frames_and_the_trace():
    told = json.loads(written("devtools-performance", with_events()))
    assert told["devToolsSnapshot"] is True and told["activeScreenId"] == "performance"
    assert told["connectedApp"]["isFlutterApp"] is False
    screen = told["performance"]
    assert bytes(screen["traceBinary"]) == written("perfetto", with_events())
    first, second = screen["flutterFrames"]
    assert first == {"number": 1, "startTime": 5_000_000, "elapsed": 16_000, "build": 16_000,
                     "raster": 0, "vsyncOverhead": 0}  # fmt: skip
    assert (second["build"], second["raster"], second["vsyncOverhead"]) == (30_000, 9_000, 4)


def test_processes_are_those_of_the_service():
    assert {thread.process for thread in read(service()).threads} == {Process(PROCESS.id, "game", 4242)}
