"""One recording, and its totals in the page, in the Python client and in `go tool pprof`: equal."""

from __future__ import annotations

import base64
import csv
import gzip
import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / name) for name in ("live", "python", "readers")]

from harness import BUILD, ISOSCOPE, ROOT, Client, profiled  # noqa: E402
from isoscope import formats, slice_table  # noqa: E402
from isoscope.formats import one_page  # noqa: E402
from profiles import totals  # noqa: E402
from test_pprof import ALL, table  # noqa: E402

PROGRAM = ["/usr/bin/python3", str(ROOT / "examples" / "stdlib_parse.py"), "2"]
NODE = os.environ.get("ISOSCOPE_NODE", "node")


def saved_by_page(service, folder):
    words = [NODE, str(HERE / "page_totals.mjs"), service.uri, str(folder)]
    return json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout)


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """The Python client's profile, the page's rows, and the folder of what the page saved."""
    folder = tmp_path_factory.mktemp("page")
    with profiled(PROGRAM) as service:
        page = saved_by_page(service, folder)
        with Client(service.uri) as client:
            profile = client.profile()
    assert len(profile) > 200, "the machine had no time for it"
    return profile, page, folder


def named_once(profile) -> set[str]:
    """Two functions of one name may stand on one stack."""
    counts = Counter(f.name for f in {frame.function for frame in profile.frames})
    return {name for name, count in counts.items() if count == 1}


def rows_of(page) -> dict[str, dict[str, float]]:
    return {row["name"]: row for row in page["functions"] if row["total"]}


def test_the_page_and_the_python_client_count_the_same(recording):
    profile, page, _ = recording
    assert page["samples"] == len(profile)
    rows, once = rows_of(page), named_once(profile)
    compared = 0
    for name, (own, total, own_us, total_us) in totals(profile).items():
        if name not in once:
            continue
        row = rows.pop(name)
        assert (row["self"], row["total"]) == (own, total), name
        # Whole microseconds there, nanoseconds here.
        assert abs(row["self_ns"] / 1000 - own_us) <= own, name
        assert abs(row["total_ns"] / 1000 - total_us) <= total, name
        compared += 1
    assert compared > 50
    assert not set(rows) & once, "functions that only the page has"


@pytest.mark.parametrize("suffix", [".speedscope.json", ".pb.gz", ".cpusamples.json"])
def test_what_the_page_saves_the_python_client_opens_with_the_same_totals(recording, suffix):
    profile, _, folder = recording
    saved = formats.open(folder / f"page{suffix}")
    assert len(saved) == len(profile)
    expected, once = totals(profile), named_once(profile)
    found = totals(saved)
    assert set(found) == set(expected)
    for name in once:
        assert list(found[name][:2]) == list(expected[name][:2]), name


@pytest.fixture(scope="module")
def both(recording):
    """A form's name -> what the page wrote, and what the Python client writes of the page's own file."""
    _, _, folder = recording
    profile = formats.open(folder / "page.cpusamples.json")

    def pair(name, suffix):
        (busiest, _), = Counter(profile.sample_threads).most_common(1)
        places = [i for i, thread in enumerate(profile.sample_threads) if thread == busiest]
        out = io.BytesIO()
        formats.write(profile.choose(places) if name == "cpuprofile" else profile, name, out)
        return (folder / f"page{suffix}").read_text(), out.getvalue().decode()

    return pair


def test_names_of_processes_and_threads_are_in_what_the_page_saves(recording):
    profile, _, folder = recording
    threads = {(int(t.process.number), t.tid, t.name) for t in profile.threads}
    for suffix in (".speedscope.json", ".pb.gz", ".cpusamples.json"):
        saved = formats.open(folder / f"page{suffix}")
        assert {(t.process.pid, t.tid, t.name) for t in saved.threads} == threads, suffix
        assert {process.name for process in saved.processes} == {"python3"}, suffix


def test_tables_for_spreadsheets_are_those_of_the_command(both):
    for name, suffix in (("csv", ".csv"), ("csv-samples", ".samples.csv")):
        page, command = [list(csv.DictReader(io.StringIO(text))) for text in both(name, suffix)]
        assert len(page) > 50 and page[0].keys() == command[0].keys()
        keys = [key for key in page[0] if key not in ("self_us", "total_us", "cpu_us")]  # rounded

        def plain(rows, keys=tuple(keys)):
            return sorted([row[key] for key in keys] for row in rows)

        assert plain(page) == plain(command), name


def test_perf_text_is_that_of_the_command(both):
    page, command = [re.sub(r" +\d+ cpu-clock", " N cpu-clock", text)  # ns there, us here
                     for text in both("perf", ".perf.txt")]  # fmt: skip
    assert sorted(page.split("\n\n")) == sorted(command.split("\n\n"))


def test_the_page_to_share_is_that_of_the_command(recording, monkeypatch):
    """But for how its parts are packed."""
    monkeypatch.setenv("ISOSCOPE_COMMAND", ISOSCOPE)
    page = (recording[2] / "page.html").read_text()
    held = base64.b64decode(re.search('id="profile">([^<]*)<', page)[1])

    def unpacked(text):
        return re.sub('(?<=">)H4sI[^<]*', lambda part: gzip.decompress(base64.b64decode(part[0])).decode(), text)

    assert unpacked(page) == unpacked(one_page.page_of('a "b" <c>', held, "#unit=time"))


def test_a_session_has_the_same_totals_in_the_page_as_what_it_was_sent(recording):
    _, page, _ = recording
    rows, session = rows_of(page), rows_of(page["session"])
    assert page["session"]["samples"] == page["samples"] and set(rows) == set(session)
    assert sum(row["total"] for row in rows.values()) == sum(row["total"] for row in session.values())
    for name, row in rows.items():
        if [one["name"] for one in page["functions"] if one["total"]].count(name) == 1:
            same = {key: round(value / 100) for key, value in session[name].items() if key.endswith("ns")}
            assert same == {key: round(row[key] / 100) for key in same}, name
            assert (row["self"], row["total"]) == (session[name]["self"], session[name]["total"])


def test_firefox_reads_the_same_threads_and_stacks_as_of_the_command(both):
    def plain(text):
        value = json.loads(text)
        shared = value["shared"]
        stacks, frames, functions = shared["stackTable"], shared["frameTable"], shared["funcTable"]

        def names(stack):
            found = []
            while stack is not None and stack >= 0:
                function = frames["func"][stacks["frame"][stack]]
                found.append(shared["stringArray"][functions["name"][function]])
                before = stacks["prefixOffset"][stack]
                stack = stack - before if before else None
            return tuple(found)

        return [
            (thread["name"], thread["pid"], thread["tid"], thread["processName"],
             Counter(map(names, thread["samples"]["stack"])), len(thread["markers"]["name"]))
            for thread in value["threads"]
        ]  # fmt: skip

    page, command = map(plain, both("firefox", ".firefox.json"))
    assert page == command


def test_devtools_reads_as_many_samples_of_each_function_as_of_the_command(both):
    page, command = [json.loads(text)["cpu-profiler"] for text in both("devtools", ".devtools.json")]

    def plain(value):
        frames = value["stackFrames"]
        return Counter(frames[event["sf"]]["name"] for event in value["traceEvents"])

    # What is left of a period is in ns there and in us here: now and then another sample is told once more.
    assert abs(page["sampleCount"] - command["sampleCount"]) <= 4
    assert page["stackDepth"] == command["stackDepth"]
    assert sum((plain(page) - plain(command)).values()) <= 0.02 * page["sampleCount"]
    times = [event["ts"] for event in page["traceEvents"]]
    assert times == sorted(set(times))


def test_a_cpuprofile_of_the_page_is_the_busiest_threads(both):
    def plain(text):
        value = json.loads(text)
        nodes = {node["id"]: node for node in value["nodes"]}
        hits = Counter({n["callFrame"]["functionName"]: 0 for n in value["nodes"]})
        for node in value["nodes"]:
            hits[node["callFrame"]["functionName"]] += node["hitCount"]
        assert set(value["samples"]) <= set(nodes) and min(value["timeDeltas"]) >= 0
        children = [child for node in value["nodes"] for child in node["children"]]
        assert len(children) == len(set(children)) == len(nodes) - 1  # a tree
        return hits

    page, command = map(plain, both("cpuprofile", ".cpuprofile"))
    assert page == command


def test_go_shows_the_same_samples_of_what_the_page_saves(recording, tmp_path):
    if shutil.which("go") is None:
        pytest.skip("needs Debian's golang-go")
    profile, page, folder = recording
    words = ["go", "tool", "pprof", "-top", "-sample_index=samples", *ALL, str(folder / "page.pb.gz")]
    environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "PPROF_TMPDIR": str(tmp_path)}
    text = subprocess.run(words, check=True, timeout=100, text=True, capture_output=True,
                          env=environment).stdout  # fmt: skip
    shown, rows, once = table(text), rows_of(page), named_once(profile)
    compared = [name for name in once if name in shown and name in rows]
    assert len(compared) > 50
    for name in compared:
        assert shown[name] == (rows[name]["self"], rows[name]["total"]), name


def test_slices_have_the_same_totals_live_in_a_session_and_in_the_python_client(tmp_path):
    with profiled([str(BUILD / "examples" / "game"), "2"]) as service:
        page = saved_by_page(service, tmp_path)
        with Client(service.uri) as client:
            timeline = client.timeline()
            session = formats.parse(client.session())
    expected = [
        [row.name, row.stream, row.count, row.total_ns, row.percentile_ns(50), row.percentile_ns(95), row.max_ns]
        for row in slice_table(timeline)
    ]
    assert {name: count for name, _, count, *_ in expected}["frame"] == 120
    assert page["slices"] == expected
    assert page["session"]["slices"] == expected
    command = io.BytesIO()
    formats.write(session, "trace", command)
    for trace in ((tmp_path / "page.trace.json").read_bytes(), command.getvalue()):
        assert slices_of(json.loads(trace)) == {(row[0], row[1]): row[2:4] for row in expected}


def slices_of(trace):
    """Of a Trace Event file, by name and category: how many there are, and their nanoseconds."""
    told = defaultdict(list)
    for event in trace["traceEvents"]:
        if event["ph"] == "X":
            told[event["name"], event["cat"]].append(round(1000 * event["dur"]))
    return {name: [len(times), sum(times)] for name, times in told.items()}
