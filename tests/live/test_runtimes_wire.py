"""Python's functions through the real protocol: what DevTools, Observatory and our own clients are told of them."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from harness import Client, profiled, record, serving, service_of, until

PYTHON = "/usr/bin/python3"
PROGRAM = textwrap.dedent("""\
    import json, sys, time

    def leaf(count):
        total = 0
        for number in range(count):
            total += number * number
        return total

    class Shape:
        def area(self):
            return leaf(20000)

    def drive(seconds):
        end = time.process_time() + seconds
        while time.process_time() < end:
            Shape().area()
            json.loads(json.dumps(list(range(200))))

    drive(float(sys.argv[1]))
    """)
LEAF, AREA, MAIN = 3, 10, 13  # the lines that they are defined in
WHOLE = {"timeOriginMicros": 0, "timeExtentMicros": 2**53 - 1}


@pytest.fixture(scope="module")
def app(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("runtimes") / "app.py"
    path.write_text(PROGRAM)
    return path


@pytest.fixture(scope="module")
def service(app):
    with profiled([PYTHON, str(app), "0.6"], "--source-root", str(app.parent)) as service:
        with Client(service.uri) as client:
            (process,) = client.processes()
            skip_where_unknown(client, process.id)
            yield client, process.id


def skip_where_unknown(client, isolate: str) -> None:
    if samples(client, isolate)["_counters"].get("runtime_unknown"):
        pytest.skip(f"{PYTHON} is of a version that isoscope does not know")


def samples(client, isolate: str) -> dict:
    return client.call("_getCpuSamples", isolateId=isolate, **WHOLE)


def named(functions, name: str) -> dict:
    (one,) = [f for f in functions if f.get("function", f)["name"] == name]
    return one


def stacks(told) -> list[list[tuple[str, int]]]:
    """Each sample's, leaf first: names and lines."""
    names = {f["id"]: f["name"] for f in told["functions"]}
    return [[(names[f["function"]["id"]], f.get("line", 0)) for f in s["stack"]] for s in told["samples"]]


def test_functions_are_what_people_wrote(service, app):
    client, isolate = service
    told = samples(client, isolate)
    libraries = {library["id"]: library for library in told["libraries"]}
    for name, line in ("leaf", LEAF), ("Shape.area", AREA), ("drive", MAIN):
        function = named(told["functions"], name)
        assert (function["kind"], function["runtime"]) == ("Interpreted", "python")
        assert (function["file"], function["line"]) == (str(app), line)
        library = libraries[function["owner"]["id"]]
        assert (library["path"], library["runtime"], library["system"]) == (str(app), "python", False)
        assert library["uri"] == f"file://{app}"
        assert "offset" not in function and "size" not in function
    dumps = named(told["functions"], "JSONEncoder.encode")
    package = libraries[dumps["owner"]["id"]]
    assert package["system"] and package["uri"].startswith("package:python3")
    assert {library["runs"] for library in libraries.values() if "runs" in library} == {"python"}


def test_frames_stand_in_the_order_of_calls_with_their_lines(service):
    client, isolate = service
    seen = 0
    for stack in stacks(samples(client, isolate)):
        own = [frame for frame in stack if frame[0] in ("leaf", "Shape.area", "drive")]
        if not own or own[0][0] != "leaf":
            continue
        seen += 1
        assert [name for name, _ in own] == ["leaf", "Shape.area", "drive"], stack
        assert own[0][1] in range(LEAF, LEAF + 5), stack
        assert own[1][1] == AREA + 1 and own[2][1] == MAIN + 3, stack
    assert seen > 50


def test_clients_of_dart_see_them_as_their_own(service, app):
    client, isolate = service
    told = client.call("getCpuSamples", isolateId=isolate, **WHOLE)
    leaf = named(told["functions"], "leaf")
    assert (leaf["kind"], leaf["resolvedUrl"]) == ("Dart", f"file://{app}")
    assert leaf["function"]["location"]["line"] == LEAF
    uris = client.call("lookupPackageUris", isolateId=isolate, uris=[leaf["resolvedUrl"]])["uris"]
    assert uris == [leaf["resolvedUrl"]]
    shown = client.call("getObject", isolateId=isolate, objectId=leaf["function"]["id"])
    assert (shown["_runtime"], shown["code"]["kind"]) == ("python", "Native")


def test_their_source_is_shown(service, app):
    client, isolate = service
    scripts = client.call("getScripts", isolateId=isolate)["scripts"]
    (script,) = [script for script in scripts if script["uri"] == f"file://{app}"]
    whole = client.call("getObject", isolateId=isolate, objectId=script["id"])
    assert whole["source"] == PROGRAM
    assert whole["tokenPosTable"][LEAF - 1] == [LEAF, LEAF, 1]
    report = client.call("getSourceReport", isolateId=isolate, reports=["Coverage"], scriptId=script["id"])
    (covered,) = report["ranges"]
    assert set(covered["coverage"]["hits"]) >= {AREA + 1, MAIN + 3}


def test_there_is_no_machine_code_and_it_says_why(service):
    client, isolate = service
    function = named(samples(client, isolate)["functions"], "leaf")
    code = client.call("_getDisassembly", isolateId=isolate, functionId=function["id"])
    assert code["reason"] == "it is interpreted: it has no machine code"


def test_a_recording_says_the_same(service, app, tmp_path):
    file = tmp_path / "app.isoscope"
    assert record(file, [PYTHON, str(app), "0.3"]).returncode == 0
    with serving(file) as saved, Client(saved.uri) as client:
        (process,) = client.processes()
        told = samples(client, process.id)
        assert named(told["functions"], "leaf")["line"] == LEAF
        tops = [stack[0] for stack in stacks(told)]
        assert sum(name == "leaf" and line in range(LEAF, LEAF + 5) for name, line in tops) > 20


def test_who_does_not_want_them_has_the_interpreters(service, app):
    with profiled([PYTHON, str(app), "0.2"], "--no-runtimes") as plain, Client(plain.uri) as client:
        (process,) = client.processes()
        told = samples(client, process.id)
        assert not [f for f in told["functions"] if "runtime" in f]
        assert named(told["functions"], "_PyEval_EvalFrameDefault")["inclusiveTicks"] > 0


def test_a_client_turns_them_off_and_on(service, app):
    def share(client, isolate) -> float:
        client.call("clearCpuSamples", isolateId=isolate)
        told = until(lambda: (t := samples(client, isolate))["sampleCount"] > 40 and t, "samples")
        own = {f["id"] for f in told["functions"] if "runtime" in f}
        late = told["samples"][10:]  # what was on its way
        return sum(any(f["function"]["id"] in own for f in s["stack"]) for s in late) / len(late)

    with service_of([PYTHON, str(app), "60"]) as live, Client(live.uri) as client:
        isolate = until(client.processes, "the program")[0].id
        until(lambda: samples(client, isolate)["sampleCount"] > 10, "samples")
        assert share(client, isolate) > 0.9
        client.call("setFlag", name="profile_runtimes", value="false")
        assert share(client, isolate) == 0
        client.call("setFlag", name="profile_runtimes", value="true")
        assert share(client, isolate) > 0.9
        flags = client.call("getFlagList")["flags"]
        values = {flag["name"]: flag["valueAsString"] for flag in flags}
        assert [values[f"profile_{word}"] for word in ("runtimes", "gil", "tasks")] == ["true", "false", "false"]


def test_a_script_has_its_frames_soon_after_its_start(service, app):
    """Of its first 100 ms of CPU time, in which the interpreter begins itself: how much is the eval loop without
    what it ran."""
    with profiled([PYTHON, str(app), "0.1"]) as short, Client(short.uri) as client:
        (process,) = client.processes()
        told = stacks(samples(client, process.id))
        bare = [stack for stack in told if any(name == "_PyEval_EvalFrameDefault" for name, _ in stack)]
        assert len(bare) < len(told) / 4, (len(bare), len(told))
