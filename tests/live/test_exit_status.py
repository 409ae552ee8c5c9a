"""How the program ended, as clients hear it: at its end, and when they come later."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys

import pytest
from harness import DEADLINE_S, Client, service_of, until, workload

# Each begins to end when it is told to: by then somebody listens.
ENDS = {
    "exit 0": {"status": 0},
    "exit 3": {"status": 3},
    "kill -KILL $$": {"signal": "SIGKILL"},
    "kill -SEGV $$": {"signal": "SIGSEGV"},
}


def listening(client: Client) -> Client:
    until(client.processes, "the program's hello")
    client.listen("Isolate")
    return client


def go_on(service) -> None:
    service.process.stdin.write(b"\n")
    service.process.stdin.flush()


def next_of(client: Client, *kinds: str):
    while True:
        event = client.next_event("Isolate", timeout_s=DEADLINE_S).event
        if event["kind"] in kinds:
            return event


def process_of(client: Client, isolate_id: str):
    return client.call("getIsolate", isolateId=isolate_id)["_process"]


def dump_cores() -> None:
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))


@pytest.fixture(autouse=True)
def sanitizers_leave_cores(monkeypatch):
    """Else an isoscope with one in it forbids them, to what it starts as well."""
    for name in ("ASAN_OPTIONS", "TSAN_OPTIONS"):
        monkeypatch.setenv(name, f"{os.environ.get(name, '')}:disable_coredump=0")


def plain_end(command, **popen):
    """The kernel's word for the same end without isoscope: whether there is a core is its choice."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, **popen)
    _, status = os.waitpid(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        return {"signal": name, "core": os.WCOREDUMP(status)}
    return {"status": os.WEXITSTATUS(status)}


@pytest.mark.parametrize("ends", ENDS)
def test_the_exit_event_says_how_and_so_does_the_service_to_who_comes_later(ends, tmp_path):
    command = ["sh", "-c", f"read line; {ends}"]
    surroundings = {"cwd": tmp_path, "preexec_fn": dump_cores}
    how = plain_end(command, **surroundings)
    assert how.items() >= ENDS[ends].items()
    with service_of(command, stdin=subprocess.PIPE, **surroundings) as service:
        with Client(service.uri) as client:
            listening(client)
            (process,) = client.processes()
            assert "_exit" not in client.vm()
            assert not {"exit", "endTime"} & process_of(client, process.id).keys()
            go_on(service)
            event = next_of(client, "IsolateExit", "IsolateUpdate")
            assert (event["kind"], event["isolate"]["id"]) == ("IsolateExit", process.id)
            assert event["_exit"] == how
        with Client(service.uri) as late:
            assert late.vm()["_exit"] == how
            told = process_of(late, process.id)
            assert (told["live"], told["exit"]) == (False, how)
            began = late.call("getIsolate", isolateId=process.id)["startTime"]
            assert began <= told["endTime"] <= event["timestamp"] + 1000


def test_a_run_that_is_not_kept_tells_its_listeners_before_it_goes(start):
    running = start(["sh", "-c", "read line; exit 3"])
    socket = running.connect()
    until(lambda: socket.rpc("getVM")["isolates"], "the program's hello")
    socket.rpc("streamListen", streamId="Isolate")
    running.process.stdin.write("\n")
    running.process.stdin.flush()
    event = socket.event()
    assert (event["kind"], event["_exit"]) == ("IsolateExit", {"status": 3})
    assert socket.close_code() == 1001
    assert running.process.wait(DEADLINE_S) == 3


def test_how_the_programs_own_children_ended_is_its_affair():
    """forks waits for four that end with 10 to 13."""
    command = ["sh", "-c", f"read line; {workload('forks')} 0.1; exit 5"]
    with service_of(command, stdin=subprocess.PIPE) as service, Client(service.uri) as client:
        listening(client)
        go_on(service)
        while "_exit" not in next_of(client, "IsolateExit"):
            pass
        told = {p.number: process_of(client, p.id) for p in client.processes()}
        assert not any(process["live"] for process in told.values())
        assert sum(process["exe"].endswith("/forks") for process in told.values()) == 5
        assert [p["exit"] for p in told.values() if "exit" in p] == [{"status": 5}]


def test_the_status_is_of_the_program_that_exec_made_of_the_first():
    """The shell ends too, without a status, and its successor starts."""
    burn = f"{sys.executable} -c 'sum(range(10**7)); raise SystemExit(4)'"
    command = ["sh", "-c", f"read line; exec {burn}"]
    with service_of(command, stdin=subprocess.PIPE) as service, Client(service.uri) as client:
        listening(client)
        go_on(service)
        heard = [next_of(client, "IsolateStart", "IsolateExit")]
        while "_exit" not in heard[-1]:
            heard.append(next_of(client, "IsolateStart", "IsolateExit"))
        of_programs = [
            (event["kind"], event["isolate"]["name"].startswith("python"))
            for event in heard
            if ":main()" in event["isolate"]["name"]
        ]
        assert of_programs == [
            ("IsolateExit", False), ("IsolateStart", True), ("IsolateExit", True)
        ]  # fmt: skip
        assert heard[-1]["_exit"] == client.vm()["_exit"] == {"status": 4}


def test_a_program_that_stops_its_sampler_and_runs_on_has_ended_for_us_and_its_status_comes_later():
    program = (
        "import ctypes, sys; input(); ctypes.CDLL(None).isoscope_stop(); input(); sys.exit(3)"
    )
    command = [sys.executable, "-c", program]
    with service_of(command, stdin=subprocess.PIPE) as service, Client(service.uri) as client:
        listening(client)
        (process,) = client.processes()
        go_on(service)
        event = next_of(client, "IsolateExit")
        assert event["isolate"]["id"] == process.id and "_exit" not in event
        assert "exit" not in process_of(client, process.id)
        go_on(service)
        event = next_of(client, "IsolateUpdate")
        assert (event["isolate"]["id"], event["_exit"]) == (process.id, {"status": 3})
        assert process_of(client, process.id)["exit"] == {"status": 3}
