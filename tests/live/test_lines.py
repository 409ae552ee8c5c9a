"""Lines, inlined frames, and names that another machine gives, of a real C++ program."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from harness import DEADLINE_S, ISOSCOPE, ROOT, profiled

from isoscope import Client
from isoscope.naming import named

SOURCE = ROOT / "tests" / "workloads" / "inlines.cpp"
CHAIN = ["mix", "operator()", "fold", "spin", "main"]  # innermost first
SECONDS = "0.5"


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """With its debug data in itself."""
    compiler = shutil.which("c++") or pytest.skip("needs a C++ compiler")
    path = tmp_path_factory.mktemp("inlines") / "inlines"
    flags = ["-O2", "-g", "-Wl,--build-id"]
    subprocess.run([compiler, *flags, "-o", str(path), str(SOURCE)], check=True)
    return path


@pytest.fixture(scope="module")
def stripped(program, tmp_path_factory):
    """The same build: its debug data lies in a file of its own, found by the link."""
    path = tmp_path_factory.mktemp("stripped") / "inlines"
    debug = path.with_name("inlines.debug")
    subprocess.run(["objcopy", "--only-keep-debug", str(program), str(debug)], check=True)
    link = f"--add-gnu-debuglink={debug}"
    subprocess.run(["objcopy", "--strip-all", link, str(program), str(path)], check=True)
    return path


def samples_of(path: Path, *options: str):
    """The reply of _getCpuSamples, whole."""
    with profiled([str(path), SECONDS], *options) as service, Client(service.uri) as client:
        return client.call("_getCpuSamples", isolateId=client.processes()[0].id)


def test_the_table_form_has_the_same_frames(program):
    with profiled([str(program), SECONDS]) as service, Client(service.uri) as client:
        listed = client.cpu_samples(client.processes()[0])
        table = next(client.samples_table())
        assert any(sample.inlined for sample in table.samples)
        for one, other in zip(listed.samples, table.samples, strict=True):
            assert [f.id for f in one.stack] == [f.id for f in other.stack]
            assert (one.lines, one.inlined) == (other.lines, other.inlined)


def chains(reply) -> Counter:
    """Each stack down to main: [(function, line, inlined), ...], innermost first."""
    names = {f["id"]: f["name"] for f in reply["functions"]}
    found: Counter = Counter()
    for sample in reply["samples"]:
        frames = [
            (names[f["function"]["id"]], f.get("line", 0), f.get("inlined", False))
            for f in sample["stack"]
        ]
        mains = [i for i, (name, _, _) in enumerate(frames) if name == "main"]
        if mains:
            found[tuple(frames[: mains[0] + 1])] += 1
    return found


def source_lines(samples) -> list[list[int]]:
    """Each stack as lines of the source, leaf first; 0: it lies elsewhere, or is not known."""
    files = {f["id"]: f.get("file", "") for f in samples["functions"]}

    def line(frame) -> int:
        file = frame.get("file", files[frame["function"]["id"]])
        return frame.get("line", 0) if file.endswith("/inlines.cpp") else 0

    return [[line(frame) for frame in sample["stack"]] for sample in samples["samples"]]


def test_a_source_report_has_the_lines_that_samples_met(program):
    """Line by line what the samples' frames say, for the gutter of DevTools' debugger."""
    with profiled([str(program), SECONDS]) as service, Client(service.uri) as client:
        isolate = client.processes()[0].id
        samples = client.call("_getCpuSamples", isolateId=isolate)
        scripts = client.call("getScripts", isolateId=isolate)["scripts"]
        (script,) = [s for s in scripts if s["uri"].endswith("/inlines.cpp")]
        report = client.call("getSourceReport", isolateId=isolate, scriptId=script["id"],
                             reports=["_Profile", "Coverage"], reportLines=True)
    total: Counter = Counter()
    own: Counter = Counter()
    for lines in source_lines(samples):
        total.update(set(lines) - {0})
        own[lines[0]] += 1
    (part,) = report["ranges"]
    profile = part["profile"]
    assert profile["metadata"]["sampleCount"] == len(samples["samples"])
    assert dict(zip(profile["positions"], profile["inclusiveTicks"])) == total
    assert dict(zip(profile["positions"], profile["exclusiveTicks"])) == {
        line: own[line] for line in total}
    assert part["coverage"] == {"hits": sorted(total), "misses": []}
    assert (part["startPos"], part["endPos"]) == (min(total), max(total))
    assert report["scripts"][part["scriptIndex"]]["id"] == script["id"]


def line_of(text: str) -> int:
    return next(n for n, line in enumerate(SOURCE.read_text().splitlines(), 1) if text in line)


def last_parts(chain) -> list[str]:
    """The names without namespaces, arguments and parameters."""
    return [strip_arguments(name).rpartition("::")[2] for name, _, _ in chain]


def strip_arguments(name: str) -> str:
    depth, out = 0, ""
    for c in name.replace("operator()", "operator@"):
        depth -= c in ">)}"
        out += c if not depth and c not in "<({>)}" else ""
        depth += c in "<({"
    return out.replace("operator@", "operator()").removesuffix(" const")


def test_inlined_frames_stand_in_order_with_their_lines(program):
    found = chains(samples_of(program))
    hot, count = next((c, n) for c, n in found.most_common() if "mix" in c[0][0])
    assert count > 0.2 * sum(found.values()), found.most_common(5)
    assert last_parts(hot) == CHAIN
    assert [inlined for _, _, inlined in hot] == [True, True, True, False, False]
    lines = [line for _, line, _ in hot]
    assert lines[0] == line_of("(a ^ b) * Factor")
    assert lines[1] == line_of("return mixer.mix")
    assert lines[2] == line_of("sum = step(sum, i)")
    assert lines[4] == line_of("work::sink = work::sink")


def test_a_stripped_program_with_its_debug_file_has_the_same_names(program, stripped):
    whole, apart = samples_of(program), samples_of(stripped)
    hot = [chains(reply).most_common(1)[0][0] for reply in (whole, apart)]
    assert set(chains(whole)) & set(chains(apart))
    assert last_parts(hot[0])[-2:] == last_parts(hot[1])[-2:] == ["spin", "main"]
    names = [
        {(f["name"], f.get("file"), f.get("line")) for f in reply["functions"] if "spin" in f["name"]}
        for reply in (whole, apart)
    ]
    assert names[0] == names[1] and names[0]


def test_the_tree_marks_what_is_inlined(program):
    with profiled([str(program), SECONDS]) as service:
        done = subprocess.run(
            [ISOSCOPE, "tree", service.uri], capture_output=True, text=True, timeout=DEADLINE_S
        )
    assert done.returncode == 0, done.stderr
    assert any("mix" in line and "(inlined)" in line for line in done.stdout.splitlines())


def test_a_profile_without_symbols_gets_the_same_names_later(program, monkeypatch):
    monkeypatch.setenv("ISOSCOPE_COMMAND", ISOSCOPE)
    bare = samples_of(program, "--no-symbols")
    libraries = {library["id"]: library for library in bare["libraries"]}
    own = [f for f in bare["functions"] if libraries[f["owner"]["id"]]["name"] == "inlines"]
    assert own and all(f["name"] == f"inlines+0x{f['offset']:x}" for f in own)
    assert libraries[own[0]["owner"]["id"]]["buildId"]
    later, at_once = named(bare), samples_of(program)
    assert later["sampleCount"] == len(later["samples"])
    hot = chains(later).most_common(1)[0][0]
    assert hot in chains(at_once)
    ours, theirs = ({f["name"]: f for f in r["functions"]} for r in (later, at_once))
    for name in {n for n, _, _ in hot}:
        for member in ("id", "fullName", "rawName", "kind", "file", "line", "offset"):
            if member != "id":
                assert ours[name].get(member) == theirs[name].get(member), (name, member)


def test_source_text_comes_from_below_the_source_root_only(program, tmp_path):
    def source(root: Path):
        with profiled([str(program), SECONDS], "--source-root", str(root)) as service:
            with Client(service.uri) as client:
                isolate = client.processes()[0].id
                client.call("getCpuSamples", isolateId=isolate)
                scripts = client.call("getScripts", isolateId=isolate)["scripts"]
                (script,) = [s for s in scripts if s["uri"].endswith("inlines.cpp")]
                return client.call("getObject", isolateId=isolate, objectId=script["id"])

    assert source(SOURCE.parent)["source"] == SOURCE.read_text()
    assert "source" not in source(tmp_path)


def test_what_is_available_is_answered_and_told_later(program):
    with profiled([str(program), SECONDS]) as service, Client(service.uri) as client:
        isolate = client.processes()[0].id
        first = client.call("getCpuSamples", isolateId=isolate, symbols="available")
        assert first["sampleCount"] and first["_symbols"]["asked"] >= first["_symbols"]["done"]
        client.call("getCpuSamples", isolateId=isolate)
        again = client.call("getCpuSamples", isolateId=isolate, symbols="available")
    names = [f["function"]["name"] for f in again["functions"]]
    assert any("mix" in name for name in names), names
    assert again["_symbols"]["done"] == again["_symbols"]["asked"]
