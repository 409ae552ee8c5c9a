"""Profiles as files: what each format keeps, and what is said of files that hold none."""

import base64
import csv
import gzip
import io
import json
import re
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

import pytest
from isoscope import Function, Process, Profile, formats
from isoscope.errors import BadFile, CannotWrite
from isoscope.formats.common import path_of
from parquet_read import Parquet
from profiles import COUNT, FUNCTIONS, PERIOD_US, START_US, TOTAL_US, plain, synthetic, totals

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "schemas"))
from wire_schema import WIRE  # noqa: E402

pytestmark = pytest.mark.usefixtures("page_command")
TRICKY = "operator<</script>;&(x)"


def written(name, profile=None, **options):
    out = io.BytesIO()
    formats.write(profile or synthetic(), name, out, **options)
    return out.getvalue()


def held_in(page):
    """The file that is in the page to share."""
    return gzip.decompress(base64.b64decode(re.search(b'id="profile">([^<]*)<', page)[1]))


def as_json(name, profile=None):
    return json.loads(written(name, profile))


def one_thread(tid=41):
    profile = synthetic()
    places = [i for i, t in enumerate(profile.sample_threads) if profile.threads[t].tid == tid]
    return profile.choose(places)


def of_folded(text):
    """self and total of each name."""
    table = {}
    for line in text.splitlines():
        stack, _, count = line.rpartition(" ")
        names = stack.split(";")
        for name in set(names):
            table.setdefault(name, [0, 0])[1] += int(count)
        table[names[-1]][0] += int(count)
    return {name: tuple(row) for name, row in table.items()}


def expected(of=slice(0, 2), rename=lambda name: name):
    return {rename(name): row[of] for name, row in totals(synthetic()).items()}


# Every one. What holds events alone is test_timeline.py's.

SAMPLED = [name for name, form in formats.FORMATS.items() if form.samples]


@pytest.mark.parametrize("name", SAMPLED)
def test_the_same_profile_is_the_same_bytes(name):
    one, other = one_thread(), one_thread()
    assert written(name, one) == written(name, other)


@pytest.mark.parametrize("name", SAMPLED)
def test_a_window_holds_nothing_of_what_is_outside(name):
    """Its tables are those of the whole profile."""
    profile = one_thread()
    part = profile.window(START_US + 5000, START_US + 5000)
    assert len(part) == 1
    content = written(name, part)
    content = gzip.decompress(content) if name == "pprof" else content
    content = held_in(content) if name == "html" else content
    content = repr(Parquet(content).columns).encode() if name == "parquet" else content
    if name == "devtools-performance":
        content = bytes(json.loads(content)["performance"]["traceBinary"])
    if name != "firefox":  # its tables are shared
        assert b"memcpy" not in content and b"main" in content


@pytest.mark.parametrize("name", formats.FORMATS)
def test_an_empty_profile_is_not_written(name, tmp_path):
    with pytest.raises(CannotWrite, match="no samples" if name in SAMPLED else "no events"):
        formats.save(Profile(), name, tmp_path / "file")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", SAMPLED)
def test_names_may_be_anything(name):
    profile = Profile()
    profile.period_us = 1000
    thread = profile.thread(Process("isolates/1", "a\nb;\udcff", 1), 1, "t\0\x1b")
    for number, text in enumerate(["", " ", "a\nb", "x\0y", "\udcff", "\U0001f600" * 300, "(;)"]):
        function = Function(f"functions/{number}", text, None)
        profile.add_sample(number * 1000, thread, profile.node(0, profile.frame(function)))
    content = written(name, profile)
    if formats.FORMATS[name].suffix in (".json", ".cpuprofile"):
        json.loads(content)
    if name == "svg":
        xml.fromstring(content)
    if name == "html":
        assert len(formats.parse(held_in(content))) == 7
    if name == "folded":
        assert sum(row[0] for row in of_folded(content.decode()).values()) == 7 * 1000
    if name == "perf":
        assert content.count(b"cpu-clock:") == 7 and content.count(b"\n\n") == 7


def test_an_unknown_format_is_told_with_those_there_are():
    with pytest.raises(CannotWrite, match="unknown format 'xls'.*speedscope"):
        written("xls")


def test_a_weight_is_for_formats_that_have_one():
    with pytest.raises(CannotWrite, match="nothing to choose"):
        written("pprof", weight="us")
    with pytest.raises(CannotWrite, match="no weight 'kilos'"):
        written("folded", weight="kilos")


# One format after another.


def test_folded_counts_samples_or_cpu_time():
    def name(text):
        return text.replace(";", ":")

    counts = written("folded", weight="samples").decode()
    assert of_folded(counts) == expected(rename=name)
    assert written("folded") == written("folded", weight="us")
    us = written("folded", weight="us").decode()
    assert of_folded(us) == expected(slice(2, 4), name)
    assert us.splitlines() == sorted(us.splitlines())


def test_svg_has_a_box_with_a_tooltip_for_each_path():
    page = xml.fromstring(written("svg"))
    space = {"s": "http://www.w3.org/2000/svg"}
    boxes = page.findall("s:g", space)
    tips = [box.find("s:title", space).text for box in boxes]
    assert tips[0] == "all"
    walk = "walk(Node*)\n/opt/app/bin/app\n/src/walk.c:30\n"
    assert sum(tip.startswith(walk) for tip in tips) == 5
    assert f"{TRICKY}\n/opt/app/bin/app\n14.3 %, 1.5 ms\nself 4.8 %, 500 us" in tips
    assert any("inlined into its caller" in tip for tip in tips)
    for box in boxes:
        rect = box.find("s:rect", space)
        left, width = float(rect.get("x")), float(rect.get("width"))
        assert 16 <= left and left + width <= 1184
    text = " ".join(page.itertext())
    assert "11 samples · 10.5 ms of CPU time · one per 1.0 ms" in text
    assert "2 samples were lost" in text and "18.2 % of the stacks are truncated" in text


def test_boxes_lie_inside_their_callers_and_beside_each_other():
    page = xml.fromstring(written("svg"))
    space = {"s": "http://www.w3.org/2000/svg"}
    rows = {}
    for rect in page.findall("s:g/s:rect", space):
        left = float(rect.get("x"))
        rows.setdefault(int(rect.get("y")), []).append((left, left + float(rect.get("width"))))
    levels = [sorted(rows[y]) for y in sorted(rows)]
    for above, row in zip(levels, levels[1:]):
        for left, right in row:
            assert any(l - 0.01 <= left and right <= r + 0.01 for l, r in above)
        for (_, right), (left, _) in zip(row, row[1:]):
            assert right <= left


def test_the_page_cannot_be_left_by_a_name_and_asks_nothing_of_the_network():
    profile = synthetic()
    profile.meta["program"] = '</title><script>alert(1)</script>" onload="x'
    page = written("html", profile).decode()
    assert page.count("</script>") == 7 == page.count("<script")  # its six parts and its start
    assert "default-src 'none'" in page and "connect-src" not in page and "<script>alert" not in page
    assert not re.search(r"(src|href)=\"(?!data:)", page) and "@import" not in page
    assert "http" not in page.replace('http-equiv="Content', "")
    assert totals(formats.parse(held_in(page.encode()))) == totals(synthetic())


def test_the_page_opens_at_the_unit_that_was_asked_for():
    assert 'data-look="#unit=samples"' in written("html", weight="samples").decode()
    assert 'data-look=""' in written("html").decode()


def test_speedscope_has_a_profile_a_thread():
    value = as_json("speedscope")
    names = [profile["name"] for profile in value["profiles"]]
    assert names == [
        "main (pid 41, tid 41)", "worker; 1 (pid 41, tid 42)", "helper (pid 51, tid 51)",
    ]  # fmt: skip
    assert sum(
        weight
        for profile in value["profiles"]
        for stack, weight in zip(profile["samples"], profile["weights"])
        if stack
    ) == TOTAL_US
    frames = [frame["name"] for frame in value["shared"]["frames"]]
    deep = [frames[number] for number in value["profiles"][0]["samples"][0]]
    assert deep == ["main", "walk", "walk", "walk", "leaf"]


def test_speedscope_keeps_the_time_between_samples():
    _, worker, helper = as_json("speedscope")["profiles"]
    # 42 runs from 1 to 3 ms and from 8.5 to 10 ms; 51 from 5 to 7 ms. Zero is where the first one began.
    assert [bool(stack) for stack in worker["samples"]] == [False, True, True, False, True, True]
    assert worker["weights"] == [1000, 1000, 1000, 5500, 500, 1000] and worker["endValue"] == 10_000
    assert helper["weights"] == [5000, 1000, 1000] and helper["endValue"] == 7000


def test_speedscope_opens_on_the_busiest_thread():
    assert as_json("speedscope")["activeProfileIndex"] == 0
    assert as_json("speedscope", synthetic().choose([0, 5, 6]))["activeProfileIndex"] == 1


def test_speedscope_of_wall_mode_lasts_as_long_as_it_did():
    profile = Profile()
    profile.period_us = 1000
    thread = profile.thread(Process("isolates/7", "app", 7), 7, "main")
    node = profile.node(0, profile.frame(FUNCTIONS["main"]))
    for time_us in (1000, 2000, 3000):
        profile.add_sample(time_us, thread, node, weight_us=time_us // 10, state="Sleep")
    (only,) = as_json("speedscope", profile)["profiles"]
    assert only["weights"] == [1000, 1000, 1000]
    back = formats.parse(written("speedscope", profile))
    assert (back.weight, len(back), back.last_us - back.first_us) == ("samples", 3, 2000)
    assert list(back.weights_us) == [100, 200, 300] and back.vm_tags == ["Sleep"]


def test_firefox_has_threads_times_lines_inlines_and_tags():
    value = as_json("firefox")
    shared, (main, worker, helper) = value["shared"], value["threads"]
    assert value["meta"]["preprocessedProfileVersion"] == 66
    assert (main["isMainThread"], worker["isMainThread"], helper["pid"]) == (True, False, "51")
    assert main["samples"]["time"] == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert worker["samples"]["threadCPUDelta"] == [1000, 1000, 500, 1000]
    names = [shared["stringArray"][n] for n in main["markers"]["name"]]
    assert names == ["parse", "copy"] and main["markers"]["endTime"] == [3.0, 4.0]
    frames, stacks = shared["frameTable"], shared["stackTable"]
    leaf = stacks["frame"][main["samples"]["stack"][0]]
    assert (frames["line"][leaf], frames["inlineDepth"][leaf]) == (6, 1)
    for table in [main["markers"], main["samples"], *map(shared.get, shared)]:
        if isinstance(table, dict):
            columns = [column for column in table.values() if isinstance(column, list)]
            assert all(len(column) == table["length"] for column in columns)


def test_a_cpuprofile_has_gaps_a_last_sample_and_lines():
    value = as_json("cpuprofile", one_thread(42))
    nodes = {node["id"]: node["callFrame"]["functionName"] for node in value["nodes"]}
    assert [nodes[n] for n in value["samples"]] == [
        "memcpy", "memcpy", "(idle)", TRICKY, "0x7f0012", "(root)",
    ]  # fmt: skip
    assert value["timeDeltas"] == [0, 1000, 1000, 5500, 500, 1000]
    assert value["startTime"] == START_US + 1000 and value["endTime"] == START_US + 10_000
    one = {n["callFrame"]["functionName"]: n for n in as_json("cpuprofile", one_thread())["nodes"]}
    assert one["main"]["positionTicks"] == [{"line": 13, "ticks": 1}]
    assert one["main"]["callFrame"]["url"] == "file:///src/main.c"


def test_a_cpuprofiles_times_are_eighths_of_milliseconds_and_keep_the_cpu_time():
    """Chrome loses self times else."""
    profile = Profile()
    profile.period_us = 1000
    thread = profile.thread(Process("isolates/1", "a", 1), 1)
    node = profile.node(0, profile.frame(Function("f", "f", None)))
    for place in range(1, 1001):
        profile.add_sample(10**9 + place * 1003, thread, node, weight_us=998)
    value = as_json("cpuprofile", profile)
    assert value["startTime"] % 125 == 0 and all(delta % 125 == 0 for delta in value["timeDeltas"])
    idle = [d for d, sample in zip(value["timeDeltas"][1:], value["samples"]) if sample == 2]
    assert len(idle) == 5000 // 500 - 1 and min(idle) >= 500
    assert abs(sum(value["timeDeltas"]) - sum(idle) - 998_000) <= 125 * len(idle)
    assert value["endTime"] - value["startTime"] == sum(value["timeDeltas"])


def test_a_cpuprofile_does_not_begin_at_nought():
    """Chrome takes that for an empty one."""
    profile = Profile()
    profile.period_us = 10
    thread = profile.thread(Process("isolates/1", "a", 1), 1)
    profile.add_sample(5, thread, profile.node(0, profile.frame(Function("f", "f", None))))
    assert as_json("cpuprofile", profile)["startTime"] == 1


def test_several_threads_are_several_cpuprofiles(tmp_path):
    made = formats.save(synthetic(), "cpuprofile", tmp_path / "x.cpuprofile")
    assert [path.name for path in made] == ["x-41.cpuprofile", "x-42.cpuprofile", "x-51.cpuprofile"]
    assert sorted(path.name for path in tmp_path.iterdir()) == [path.name for path in made]
    with pytest.raises(CannotWrite, match="one thread; here are 3: main .pid 41, tid 41."):
        written("cpuprofile")


def test_perf_text_has_a_block_a_sample():
    blocks = written("perf").decode().split("\n\n")[:-1]
    assert len(blocks) == COUNT
    assert blocks[0].splitlines() == [
        "main  41/41  5.001000:    1000000 cpu-clock: ",
        "\t               0 leaf+0x0 (inlined)",
        "\t               0 walk+0x0 (/opt/app/bin/app)",
        "\t               0 walk+0x0 (/opt/app/bin/app)",
        "\t               0 walk+0x0 (/opt/app/bin/app)",
        "\t               0 main+0x0 (/opt/app/bin/app)",
    ]


def test_the_devtools_snapshot_keeps_the_rules_of_its_reader():
    """devtools_app's: exact flags, ids without a second dash, whole numbers, no frame missing."""
    value = as_json("devtools")
    assert value["devToolsSnapshot"] is True and value["activeScreenId"] == "cpu-profiler"
    assert value["connectedApp"]["isFlutterApp"] is False
    screen = value["cpu-profiler"]
    assert screen["type"] == "_CpuProfileTimeline"
    frames, events = screen["stackFrames"], screen["traceEvents"]
    assert screen["sampleCount"] == len(events) == COUNT
    whole = ("samplePeriod", "stackDepth", "timeOriginMicros", "timeExtentMicros")
    assert all(type(screen[name]) is int for name in whole)
    assert screen["stackDepth"] == 5
    for number, frame in frames.items():
        assert number.count("-") == 1 and frame["name"]
        assert frame.get("parent", number) in frames
        assert frame["sourceLine"] is None or type(frame["sourceLine"]) is int
        assert isinstance(frame["resolvedUrl"], str) and isinstance(frame["packageUri"], str)
    assert [event["ts"] for event in events] == sorted(event["ts"] for event in events)
    counts = {}
    for event in events:
        assert event["ph"] == "P" and event["args"]["vmTag"] == "Native"
        names, at = [], event["sf"]
        while at:
            names.append(frames[at]["name"])
            at = frames[at].get("parent")
        for name in set(names):
            counts.setdefault(name, [0, 0])[1] += 1
        counts[names[0]][0] += 1
    assert {name: tuple(row) for name, row in counts.items()} == expected()


def test_csv_has_a_row_a_function():
    rows = list(csv.DictReader(io.StringIO(written("csv").decode())))
    columns = ("self_samples", "total_samples", "self_us", "total_us")
    assert {r["function"]: tuple(int(r[c]) for c in columns) for r in rows} == totals(synthetic())
    assert rows[0]["library"] and rows == sorted(rows, key=lambda row: -int(row["self_samples"]))


def test_csv_has_a_row_a_sample():
    rows = list(csv.DictReader(io.StringIO(written("csv-samples").decode())))
    assert len(rows) == COUNT and sum(int(row["cpu_us"]) for row in rows) == TOTAL_US
    assert rows[0]["stack"] == "main:11;walk:31;walk:32;walk:32;leaf:6"
    assert [row["user_tag"] for row in rows if row["tid"] == "41"].count("parse") == 3
    assert [row["whole"] for row in rows if row["tid"] == "42"] == ["0", "0", "1", "1"]


def test_a_cell_is_no_formula():
    profile = Profile()
    thread = profile.thread(Process("isolates/1", "a", 1), 1)
    function = Function("f", '=HYPERLINK("x")', None)
    profile.add_sample(0, thread, profile.node(0, profile.frame(function)), weight_us=1)
    rows = list(csv.DictReader(io.StringIO(written("csv", profile).decode())))
    assert rows[0]["function"] == "'=HYPERLINK(\"x\")"


def test_cpu_samples_are_as_the_schema_has_them():
    value = as_json("cpusamples")
    WIRE.check("_CpuSamples", value)
    ticks = {f["name"]: (f["exclusiveTicks"], f["inclusiveTicks"]) for f in value["functions"]}
    assert ticks == expected()


# And back.


def test_cpu_samples_come_back_as_they_were():
    profile = synthetic()
    back = formats.parse(written("cpusamples"))
    assert plain(back) == plain(profile)
    assert (back.period_us, back.lost) == (PERIOD_US, profile.lost)
    names = [(t.name, t.process.label) for t in back.threads]
    assert sorted(names) == sorted((t.name, t.process.label) for t in profile.threads)


def test_cpu_samples_of_one_process_keep_its_name():
    profile = synthetic().choose([0, 5])
    (process,) = {t.process for t in formats.parse(written("cpusamples", profile)).threads}
    assert process.label == "app (41)"


def test_a_reply_that_tells_no_names_is_read_without_them():
    value = as_json("cpusamples")
    del value["_processes"], value["_threads"]
    back = formats.parse(json.dumps(value).encode())
    assert {t.name for t in back.threads} == {""} and len(back.processes) == 2


def test_pprof_comes_back_but_for_the_times():
    profile = synthetic()
    back = formats.parse(written("pprof"))
    assert plain(back, times=False) == plain(profile, times=False)
    assert back.period_us == PERIOD_US
    names = [(t.name, t.process.name) for t in back.threads]
    assert sorted(names) == [("helper", "child"), ("main", "app"), ("worker; 1", "app")]
    walk = next(f.function for f in back.frames if f.function.name == "walk")
    assert (walk.full_name, walk.file, walk.line) == ("walk(Node*)", "/src/walk.c", 30)


def test_speedscope_comes_back_with_its_threads_and_weights():
    back = formats.parse(written("speedscope"))
    assert totals(back) == totals(synthetic())
    threads = {(t.process.label, t.tid, t.name) for t in back.threads}
    assert threads == {
        ("app (41)", 41, "main"), ("app (41)", 42, "worker; 1"), ("child (51)", 51, "helper"),
    }  # fmt: skip
    gaps = [later - earlier for earlier, later in zip(sorted(back.times_us), sorted(back.times_us)[1:])]
    times = sorted(synthetic().times_us)
    assert gaps == [later - earlier for earlier, later in zip(times, times[1:])]


def test_speedscope_comes_back_with_files_and_libraries():
    back = formats.parse(written("speedscope"))

    def places(profile):
        return {(f.function.name, f.function.file, f.function.line, path_of(f.function.library))
                for f in profile.frames}

    assert places(back) == places(synthetic())
    assert any(file and library for _, file, _, library in places(back))


def test_a_cpuprofile_comes_back_with_its_cpu_time_files_and_libraries():
    profile = one_thread(42)
    back = formats.parse(written("cpuprofile", profile))
    assert {name: (own, total) for name, (_, _, own, total) in totals(back).items()} == {
        name: (own, total) for name, (_, _, own, total) in totals(profile).items()
    }

    def places(of):
        return {(f.function.name, f.function.file, f.function.line if f.function.file else 0) for f in of.frames}

    assert {place for place in places(back)} <= places(profile)
    assert not formats.is_for_page(back) and formats.is_for_page(profile)


def test_a_cpuprofile_of_v8_has_times_until_the_next_sample_and_none_of_idle():
    def node(number, name, line=-1, url="", **more):
        return {"id": number, "callFrame": {"functionName": name, "url": url, "lineNumber": line}, **more}

    nodes = [node(1, "(root)", children=[2, 3]), node(2, "(idle)"), node(3, "", 4, "file:///a%20b.js"),
             node(4, "inner", 9, "node:internal/x", parent=3)]  # fmt: skip
    # The third came before the second: V8 is known to.
    value = {"nodes": nodes, "samples": [3, 2, 4, 4], "timeDeltas": [100, 500, -200, 700], "startTime": 1000, "endTime": 2300}
    back = formats.parse(json.dumps(value).encode())
    assert totals(back) == {"(anonymous)": (1, 3, 300, 700), "inner": (2, 2, 400, 400)}
    assert sorted(back.times_us) == [1400, 1600, 2300]
    functions = {f.function.name: (f.function.file, f.function.line) for f in back.frames}
    assert functions == {"(anonymous)": ("/a b.js", 5), "inner": ("node:internal/x", 10)}


def test_a_cpuprofile_that_goes_in_circles_is_told():
    frame = {"functionName": "f"}
    nodes = [{"id": 1, "callFrame": frame, "children": [2]}, {"id": 2, "callFrame": frame, "children": [1]}]
    value = {"nodes": nodes, "samples": [1], "timeDeltas": [0], "startTime": 0, "endTime": 5}
    with pytest.raises(BadFile, match="invalid .cpuprofile.*its own caller"):
        formats.parse(json.dumps(value).encode())


def test_folded_stacks_are_read_back():
    back = formats.parse(written("folded"))
    times = {name: (own, total) for name, (_, _, own, total) in totals(synthetic()).items()}
    read = {name: (own, total) for name, (own, total, _, _) in totals(back).items()}
    assert {name.replace(":", ";"): value for name, value in read.items()} == times


def test_folded_stacks_of_many_microseconds_are_time():
    back = formats.parse(b"# a comment\nmain;walk 150000\nmain 250000\n\n")
    assert totals(back) == {"main": (1, 2, 250_000, 400_000), "walk": (1, 1, 150_000, 150_000)}
    with pytest.raises(BadFile, match="line 2 is not a stack and a number"):
        formats.parse(b"main 3\nwalk\n")


def test_what_is_written_of_what_was_read_is_the_same_file():
    for name in ("cpusamples", "speedscope", "pprof"):
        once = written(name, formats.parse(written(name)))
        assert written(name, formats.parse(once)) == once, name


EVENTED = {
    "shared": {"frames": [{"name": "a"}, {"name": "b"}]},
    "profiles": [{
        "type": "evented", "name": "t", "unit": "milliseconds", "startValue": 0, "endValue": 9,
        "events": [
            {"type": "O", "frame": 0, "at": 1}, {"type": "O", "frame": 1, "at": 2},
            {"type": "C", "frame": 1, "at": 5}, {"type": "C", "frame": 0, "at": 9},
        ]}],
}  # fmt: skip


def test_speedscope_events_are_read():
    profile = formats.parse(json.dumps(EVENTED).encode())
    times = {name: row[2:] for name, row in totals(profile).items()}
    assert times == {"a": (5000, 8000), "b": (3000, 3000)}


def test_speedscope_counts_are_read_as_samples_without_time():
    value = {
        "shared": {"frames": [{"name": "a"}]},
        "profiles": [{"type": "sampled", "name": "t", "unit": "none", "startValue": 0,
                      "endValue": 3, "samples": [[0]], "weights": [3]}],
    }  # fmt: skip
    assert totals(formats.parse(json.dumps(value).encode())) == {"a": (3, 3, 0, 0)}


def test_a_dart_vms_cpu_samples_are_read():
    value = {
        "type": "CpuSamples", "samplePeriod": 1000, "sampleCount": 1, "timeOriginMicros": 5,
        "timeExtentMicros": 1, "pid": 9, "maxStackDepth": 128,
        "functions": [
            {"kind": "Dart", "resolvedUrl": "package:a/b.dart",
             "function": {"type": "@Function", "id": "f/1", "name": "run"}}],
        "samples": [
            {"tid": 3, "timestamp": 5, "stack": [0], "vmTag": "Dart", "userTag": "Default"}],
    }  # fmt: skip
    reply = json.dumps({"jsonrpc": "2.0", "id": "1", "result": value}).encode()
    assert totals(formats.parse(reply)) == {"run": (1, 1, 1000, 1000)}


# Files that hold no profile.


@pytest.mark.parametrize("name", ["speedscope", "pprof", "cpusamples"])
def test_half_a_file_is_told(name):
    content = written(name)
    for part in (0.1, 0.5, 0.99):
        with pytest.raises(BadFile, match="truncated|damaged|invalid"):
            formats.parse(content[: int(len(content) * part)])


def test_half_a_pprof_that_is_not_zipped_is_told():
    content = gzip.decompress(written("pprof"))
    assert plain(formats.parse(content), times=False) == plain(synthetic(), times=False)
    for size in range(1, len(content) - 20):
        with pytest.raises(BadFile):
            formats.parse(content[:size])


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "empty"),
        (b"main;walk three\n", "unrecognized text format.*reads sessions, speedscope, pprof, .cpuprofile, CpuSamples and folded"),
        (b"{}", "unrecognized JSON format"),
        (b"[1, 2]", "without a profile"),
        (b"{" * 3 + b"]", "invalid JSON"),
        (b"[" * 200_000, "too deep|truncated"),
        (b"\x1f\x8bnonsense", "damaged"),
        (b"<svg/>", "HTML page or SVG picture; isoscope reads"),
        (b'{"meta": {}, "threads": []}', "Firefox.*writes but does not read"),
        (b'{"nodes": [], "timeDeltas": []}', "invalid .cpuprofile.*samples"),
        (b'{"nodes": [], "timeDeltas": [1], "samples": [], "startTime": 0, "endTime": 1}', "0 samples, 1 timeDeltas"),
        (b'{"nodes": [], "timeDeltas": [1], "samples": [7], "startTime": 0, "endTime": 1}', "invalid .cpuprofile.*7"),
        (b'{"devToolsSnapshot": true}', "DevTools snapshot.*writes but does not read"),
        (b'{"shared": {}, "profiles": []}', "invalid speedscope file.*frames"),
        (b'{"type": "CpuSamples"}', "invalid CpuSamples file.*samples"),
        (b"\xff\xfe\x00\x01", "protobuf"),
        (b'{"shared": {"frames": []}, "profiles": [{"type": "sampled", "unit": "bytes"}]}',
         "in bytes: only times"),
    ],
)  # fmt: skip
def test_what_is_no_profile_is_told_by_what_it_is(content, says):
    with pytest.raises(BadFile, match=says):
        formats.parse(content)


def test_a_number_outside_of_its_table_is_told():
    value = as_json("speedscope")
    for wrong in (10_000, -1):
        value["profiles"][0]["samples"][0] = [wrong]
        with pytest.raises(BadFile, match="speedscope"):
            formats.parse(json.dumps(value).encode())


def test_counts_that_would_fill_the_memory_are_refused():
    value = {
        "shared": {"frames": [{"name": "a"}]},
        "profiles": [{"type": "sampled", "name": "t", "unit": "none", "startValue": 0,
                      "endValue": 3, "samples": [[0]], "weights": [10**12]}],
    }  # fmt: skip
    with pytest.raises(BadFile, match="more than"):
        formats.parse(json.dumps(value).encode())


def test_an_error_names_the_file(tmp_path):
    (tmp_path / "half.json").write_bytes(written("speedscope")[:-5])
    with pytest.raises(BadFile, match="half.json: truncated JSON"):
        formats.open(tmp_path / "half.json")
    with pytest.raises(BadFile, match="cannot read .*missing: No such file"):
        formats.open(tmp_path / "missing")


# Places to write to.


def test_a_file_that_was_there_stays_when_writing_fails(tmp_path, monkeypatch):
    target = tmp_path / "x.svg"
    target.write_text("before")

    def full(profile, out):
        out.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setitem(formats.FORMATS, "svg", formats.FORMATS["svg"]._replace(write=full))
    with pytest.raises(CannotWrite, match="x.svg: No space left on device"):
        formats.save(synthetic(), "svg", target)
    assert target.read_text() == "before" and list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("place", ["missing/x.svg", "."])
def test_a_place_that_takes_no_file_is_told_before_the_work(place, tmp_path):
    with pytest.raises(CannotWrite, match="no such folder|is a folder"):
        formats.check_place(tmp_path / place)
    with pytest.raises(CannotWrite):
        formats.save(synthetic(), "svg", tmp_path / place)


def test_a_device_is_written_to_in_place(tmp_path):
    assert formats.save(synthetic(), "folded", Path("/dev/null")) == [Path("/dev/null")]
    assert not Path("/dev/null").is_file()


def test_what_is_wrong_at_its_end_is_not_called_cut_off():
    whole = b'{"shared": {"frames": []}, "profiles": ["a"'
    for content, cut in ((whole, True), (whole[:-2] + b"b", True), (whole + b"]} more", False)):
        with pytest.raises(BadFile) as raised:
            formats.parse(content)
        assert ("truncated" in str(raised.value)) == cut
