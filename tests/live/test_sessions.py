"""A served session answers as the live service did, and always the same."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from asking import CHANGES, METHODS, Asking
from conftest import Socket
from harness import (
    DEADLINE_S, ISOSCOPE, ROOT, Client, profiled, record, service_of, serving, until, workload,
)  # fmt: skip

WORKLOADS = ROOT / "tests" / "workloads"
SPIN = [workload("spin_two_to_one"), "0.5"]
FORKS = [workload("forks"), "0.3"]
THREADS = [workload("threads"), "3", "1"]


def save(uri: str, file: Path, **params) -> Path:
    with Client(uri) as client:
        file.write_bytes(base64.b64decode(client.call("_getSession", **params)["data"]))
    return file


def until_recorded(service) -> str:
    """With --keep the service stays; the file is closed when it says so."""
    for line in service.process.stderr:
        if b"recorded " in line:
            return line.decode()
    raise AssertionError("nothing was recorded")


# What a profile says, without numbers that may differ.


def processes(client) -> list[dict]:
    vm = client.call("getVM")
    return [one for one in vm["isolates"] + vm["_endedIsolates"] if "_tid" not in one]


def told(uri: str) -> dict:
    with Client(uri) as client:
        return {process["id"]: process_told(client, process) for process in processes(client)}


ABOUT = ("pid", "ppid", "exe", "exit", "timer", "timerReason", "truePeriodMicros", "counters")
LIBRARY = ("path", "buildId", "loadBias", "reason", "linesReason", "code", "system", "name", "uri")


def process_told(client, process) -> dict:
    reply = client.call("_getCpuSamples", isolateId=process["id"], pcs=True)
    isolate = client.call("getIsolate", isolateId=process["id"])
    about = isolate["_process"]
    libraries = {one["id"]: one for one in reply["libraries"]}
    functions = {one["id"]: function_told(one, libraries) for one in reply["functions"]}
    names = {id: one[:-2] for id, one in functions.items()}
    return {
        "name": process["name"],
        "about": {name: about.get(name) for name in ABOUT},
        "started": isolate["startTime"],
        "tags": isolate["_tagCounters"],
        "period": (reply["samplePeriod"], reply["maxStackDepth"]),
        "counters": reply["_counters"],
        "functions": sorted(functions.values(), key=str),
        "libraries": sorted(str([one.get(name) for name in LIBRARY]) for one in libraries.values()),
        "samples": [sample_told(one, names) for one in reply["samples"]],
    }


def function_told(function, libraries) -> tuple:
    names = ("name", "fullName", "rawName", "kind", "offset", "size", "file", "line",
             "inclusiveTicks", "exclusiveTicks")  # these are the last two
    return (libraries[function["owner"]["id"]]["path"], *(function.get(name) for name in names))


def sample_told(sample, names) -> tuple:
    stack = [(names[frame["function"]["id"]], frame.get("line"), frame.get("file"),
              frame.get("inlined"), frame.get("offset")) for frame in sample["stack"]]
    return (sample["timestamp"], sample["tid"], sample["cpuNanos"], sample["vmTag"],
            sample["userTag"], sample.get("end"), stack)


def assert_same(live: dict, saved: dict) -> None:
    """Piece by piece: a difference is to be read."""
    assert sorted(live) == sorted(saved)
    for process in live:
        for name in live[process]:
            assert live[process][name] == saved[process][name], f"{name} of {process}"


@pytest.fixture(scope="module")
def inlines(tmp_path_factory):
    """With lines and inlined functions."""
    compiler = shutil.which("c++") or pytest.skip("needs a C++ compiler")
    path = tmp_path_factory.mktemp("inlines") / "inlines"
    source = WORKLOADS / "inlines.cpp"
    subprocess.run([compiler, "-O2", "-g", "-Wl,--build-id", "-o", str(path), str(source)], check=True)
    return [str(path), "0.5"]


@pytest.mark.parametrize("command", [SPIN, FORKS, THREADS], ids=lambda words: Path(words[0]).name)
def test_what_was_recorded_beside_a_service_is_what_that_service_told(command, tmp_path):
    assert_recorded_as_told(command, tmp_path)


def test_lines_and_inlined_functions_are_in_the_file(inlines, tmp_path):
    assert_recorded_as_told(inlines, tmp_path)


def assert_recorded_as_told(command, tmp_path):
    file, saved = tmp_path / "run.isoscope", tmp_path / "saved.isoscope"
    with service_of(command, "-o", str(file)) as service:
        line = until_recorded(service)
        live = told(service.uri)
        save(service.uri, saved)
    assert f"isoscope tree {file}" in line and f"isoscope serve {file}" in line
    for one in (file, saved):
        with serving(one) as service:
            assert_same(live, told(service.uri))


def test_a_session_of_a_session_is_the_same_again(tmp_path):
    first, second = tmp_path / "first.isoscope", tmp_path / "second.isoscope"
    record(first, SPIN)
    with serving(first) as service:
        before = told(service.uri)
        save(service.uri, second)
    with serving(second) as service:
        assert_same(before, told(service.uri))


def test_a_running_program_is_saved_as_it_is_then(tmp_path):
    file = tmp_path / "saved.isoscope"
    with service_of([workload("spin_two_to_one"), "100"]) as service:
        until(lambda: len(service.tree().functions()) > 1, "samples")
        before = told(service.uri)
        save(service.uri, file)
        pid = service.program()
    with serving(file) as service:
        after = told(service.uri)
        with Client(service.uri) as client:
            vm = client.call("getVM")
    ((_, live),), ((_, saved),) = before.items(), after.items()
    assert saved["about"]["pid"] == pid
    assert saved["samples"][: len(live["samples"])] == live["samples"]
    assert vm["_currentRSS"] > 0, "the memory of the last look"


def test_commands_print_the_same_of_both(tmp_path):
    file = tmp_path / "cpu.isoscope"
    printed = {}
    with service_of(FORKS, "-o", str(file)) as service:
        until_recorded(service)
        printed["live"] = print_all(service.uri)
    with serving(file) as service:
        printed["saved"] = print_all(service.uri)
    printed["file"] = print_all(str(file))
    assert printed["live"] == printed["saved"] == printed["file"]


def print_all(uri: str) -> list[str]:
    commands = (["tree"], ["bottomup"], ["table"], ["tree", "--json"], ["dump"])
    outputs = []
    for words in commands:
        done = subprocess.run([ISOSCOPE, *words, uri], capture_output=True, text=True,
                              timeout=DEADLINE_S)
        assert done.returncode == 0 or words == ["dump"], done.stderr
        if words != ["dump"]:  # of a live service it is about the last second
            outputs.append(done.stdout.replace(uri, "URI"))
    return outputs


def test_two_servings_give_the_same_bytes(tmp_path):
    file, elsewhere = tmp_path / "cpu.isoscope", tmp_path / "elsewhere"
    record(file, FORKS, "--source-root", str(ROOT))
    elsewhere.mkdir()
    copy = elsewhere / file.name
    copy.write_bytes(file.read_bytes())
    replies = []
    for one in (file, copy):
        with serving(one, "--history", "1" if one is copy else "64") as service:
            replies.append(Asking(service.uri).all())
    assert CHANGES <= set(METHODS), "methods that are no more"
    for name, first in replies[0].items():
        second = replies[1][name]
        history = {"getVM": "_history", "_getTimeline": "history"}.get(name)
        if history:  # its bytesMax is --history
            first, second = (json.loads(text) for text in (first, second))
            for reply in (first, second):
                del reply["result"][history]["bytesMax"]
        assert first == second, name


def test_what_needs_the_program_is_refused_and_the_client_hears_why(tmp_path):
    file = tmp_path / "cpu.isoscope"
    record(file, SPIN)
    with serving(file) as service:
        socket = Socket(service.uri)
        isolate = socket.rpc("getVM")["isolates"][0]["id"]
        for method, params in (
            ("setFlag", {"name": "max_profile_depth", "value": "50"}),
            ("setFlag", {"name": "profile_mode", "value": "wall"}),
            ("setFlag", {"name": "profiler", "value": "false"}),
            ("_enableProfiler", {"isolateId": isolate, "enable": False}),
            ("clearCpuSamples", {"isolateId": isolate}),
            ("_clearCpuProfile", {"isolateId": isolate}),
            ("clearVMTimeline", {}),
            ("_clearVMTimeline", {}),
            ("_writeCpuProfileTimeline", {"isolateId": isolate}),
        ):
            error = socket.receive(socket.send(method, **params))["error"]
            assert error["code"] == 100 and error["data"]["details"].startswith(
                "this is a saved session: "), (method, error)
        assert socket.rpc("setFlag", name="profiler", value="true")["type"] == "Success"
        samples = socket.rpc("getCpuSamples", isolateId=isolate)
        assert samples["sampleCount"] > 0
        assert socket.rpc("setFlag", name="profile_period", value="50")["type"] == "Success"
        assert socket.rpc("getCpuSamples", isolateId=isolate) == samples


def test_the_vm_tells_of_the_file(tmp_path):
    file = tmp_path / "cpu.isoscope"
    record(file, SPIN)
    with serving(file) as service, Client(service.uri) as client:
        (one,) = client.call("getVM")["_saved"]
        now = client.call("getVMTimelineMicros")["timestamp"]
    assert one["name"] == file.name and one["command"] == " ".join(SPIN) and one["closed"]
    assert one["startMicros"] < one["endMicros"] == now


def test_several_files_are_groups_on_one_time_line(tmp_path):
    files = [tmp_path / "one.isoscope", tmp_path / "two.isoscope"]
    for file in files:
        record(file, SPIN)
    alone = [next(iter(times(file).items())) for file in files]
    by_start, by_clock = times(*files, "--align", "start"), times(*files, "--align", "clock")
    groups = [group for group, _ in alone]
    assert sorted(by_start) == sorted(by_clock) == sorted(groups)
    # Each first sample is as long after the common start as it was after its own.
    (first, second) = (span[0] - started(file) for file, (_, span) in zip(files, alone))
    assert by_start[groups[0]][0] - by_start[groups[1]][0] == first - second
    (_, ended), (begun, _) = (by_clock[group] for group in groups)
    assert begun > ended, "the second began when the first had ended"
    for group, (first, last) in alone:
        for together in (by_start[group], by_clock[group]):
            assert last - first == together[1] - together[0]


def started(file: Path) -> int:
    with serving(file) as service, Client(service.uri) as client:
        return client.call("getVM")["_saved"][0]["startMicros"]


def times(*words) -> dict[str, tuple[int, int]]:
    """Isolate group -> the first and the last sample."""
    with serving(*words) as service, Client(service.uri) as client:
        found = {}
        for process in processes(client):
            samples = client.call("_getCpuSamples", isolateId=process["id"])["samples"]
            stamps = [sample["timestamp"] for sample in samples]
            found[process["isolateGroupId"]] = min(stamps), max(stamps)
        return found


def test_names_come_later_where_the_binaries_are(inlines, tmp_path):
    file, named = tmp_path / "bare.isoscope", tmp_path / "named.isoscope"
    assert "recorded" in record(file, inlines, "--no-symbols").stderr
    with serving(file) as service:
        bare = told(service.uri)
    assert all("+0x" in one[1] for process in bare.values() for one in process["functions"])
    done = subprocess.run([ISOSCOPE, "symbolize", str(file), "-o", str(named)], capture_output=True,
                          text=True, timeout=DEADLINE_S)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    with serving(named) as service:
        profile = told(service.uri)
    assert any(one[1] == "main" for process in profile.values() for one in process["functions"])
    ((before,), (after,)) = (list(one.values()) for one in (bare, profile))
    assert [one[:6] for one in before["samples"]] == [one[:6] for one in after["samples"]]
    subprocess.run([ISOSCOPE, "symbolize", str(file)], check=True, timeout=DEADLINE_S)
    with serving(file) as service:
        assert_same(profile, told(service.uri))


def test_sources_that_were_sampled_are_in_the_file(inlines, tmp_path):
    file = tmp_path / "cpu.isoscope"
    record(file, inlines, "--source-root", str(WORKLOADS))
    with serving(file) as service, Client(service.uri) as client:
        (process,) = processes(client)
        scripts = client.call("getScripts", isolateId=process["id"])["scripts"]
        script = next(one for one in scripts if one["uri"].endswith("inlines.cpp"))
        source = client.call("getObject", isolateId=process["id"], objectId=script["id"])["source"]
    assert source == (WORKLOADS / "inlines.cpp").read_text()


@pytest.mark.parametrize("words, said", [
    ([], "no file given"),
    (["/nowhere/cpu.isoscope"], "/nowhere/cpu.isoscope"),
    (["/"], "/: "),
    (["/etc/passwd"], "/etc/passwd: byte 0: "),
    (["--align", "left", "x"], "--align: 'left' is not start or clock"),
    (["--rotate", "5s", "x"], "--rotate is not an option of isoscope serve"),
])  # fmt: skip
def test_wrong_usage_is_told(words, said):
    done = subprocess.run([ISOSCOPE, "serve", *words], capture_output=True, text=True,
                          timeout=DEADLINE_S)
    assert done.returncode == 2 and said in done.stderr, done.stderr


def test_a_service_of_a_file_ends_with_its_input_where_it_is_told_to(tmp_path):
    record(tmp_path / "cpu.isoscope", SPIN)
    words = [ISOSCOPE, "serve", "--end-with-input", "--write-service-info", str(tmp_path / "info"), str(tmp_path / "cpu.isoscope")]
    service = subprocess.Popen(words, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    until((tmp_path / "info").exists, "the service")
    service.stdin.write(b"what is written there is nothing to it")
    service.stdin.flush()
    assert told(json.loads((tmp_path / "info").read_text())["uri"])
    service.stdin.close()
    assert service.wait(DEADLINE_S) == 0
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode == 2 and "standard input is no pipe" in done.stderr, done.stderr


def test_a_file_cut_anywhere_opens_or_is_refused_with_a_place(tmp_path):
    file, cut = tmp_path / "cpu.isoscope", tmp_path / "cut.isoscope"
    record(file, SPIN)
    whole = file.read_bytes()
    for length in (0, 7, 15, 16, 40, len(whole) // 2, len(whole) - 1):
        cut.write_bytes(whole[:length])
        done = subprocess.run([ISOSCOPE, "symbolize", str(cut), "-o", str(tmp_path / "out")],
                              capture_output=True, text=True, timeout=DEADLINE_S)
        assert done.returncode == 0 or (done.returncode == 2 and f"{cut}: byte " in done.stderr)
    assert done.returncode == 0, done.stderr


def test_a_file_that_is_damaged_is_refused_with_the_place(tmp_path):
    file = tmp_path / "cpu.isoscope"
    record(file, SPIN)
    place = damage(file)
    done = subprocess.run([ISOSCOPE, "serve", str(file)], capture_output=True, text=True,
                          timeout=DEADLINE_S)
    assert done.returncode == 2
    assert done.stderr.startswith(f"isoscope: {file}: byte {place}: block 'SMPL' is damaged")


def test_samples_that_change_below_the_service_are_an_error_with_their_place(tmp_path):
    file = tmp_path / "cpu.isoscope"
    record(file, SPIN)
    with serving(file) as service:
        place = damage(file)
        socket = Socket(service.uri)
        error = socket.receive(socket.send("_getCpuSamples"))["error"]
        assert error["code"] == -32603
        assert error["data"]["details"].startswith(f"{file} is damaged: byte {place}: ")
        assert socket.rpc("getVersion")["type"] == "Version", "the service goes on"


def damage(file: Path) -> int:
    """One bit of the first samples; where their block begins."""
    place = file.read_bytes().index(b"SMPL")
    with file.open("rb+") as content:
        content.seek(place + 30)
        byte = content.read(1)[0]
        content.seek(place + 30)
        content.write(bytes([byte ^ 1]))
    return place


def test_the_service_ends_by_a_signal_in_order(tmp_path):
    file = tmp_path / "cpu.isoscope"
    record(file, SPIN)
    with serving(file) as service:
        socket = Socket(service.uri)
        service.process.terminate()
        assert socket.close_code() == 1001
        assert service.process.wait(DEADLINE_S) == 0
