"""What IDEs do, on programs under `isoscope run`: Dart-Code's debug adapter, the Java client of
flutter-intellij; and what each client takes for the program, where several processes are it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).resolve().parent)]

import dart_code  # noqa: E402
import java_client  # noqa: E402
import replay  # noqa: F401, E402 - finds the harness
from harness import children, service_of, until, workload  # noqa: E402
from wire_client import WireClient  # noqa: E402

SPIN = [workload("spin_two_to_one"), "1000"]
# What pyenv, npm and their like do: a shell asks other programs, then becomes the one that is meant.
WRAPPER = "v=$(for i in 1 2 3; do echo $i; done | sort | tail -1); exec " + " ".join(SPIN)
# A loop that is late, again and again.
LATE = """
import asyncio, time

async def main():
    while True:
        for _ in range(50):
            await asyncio.sleep(0.005)
        time.sleep(0.4)

asyncio.run(main())
"""
# A script that starts many programs, which leave next to no samples, and waits.
SCRIPT = f"for i in $(seq 40); do ls / | sort >/dev/null; done; {' '.join(SPIN)} & wait"


@pytest.fixture
def client():
    clients = []

    def connect(uri: str) -> WireClient:
        clients.append(WireClient(uri))
        return clients[-1]

    yield connect
    for one in clients:
        one.close()


def samples_of(client: WireClient, name: str, enough: int) -> bool:
    """The isolate of that name has them."""
    vm = client.ask("getVM")
    for isolate in vm["isolates"]:
        if isolate["name"].startswith(name) and "_tid" not in isolate:
            found = client.ask("getIsolate", isolateId=isolate["id"])
            return found["_process"]["counters"]["stored"] >= enough
    return False


@pytest.mark.parametrize("command", [SPIN, [workload("threads")], ["bash", "-c", WRAPPER]],
                         ids=["one thread", "threads", "wrapper"])
def test_dart_code_attaches_looks_around_and_goes(client, command):
    with service_of(command, "--period", "200") as service:
        one = client(service.uri)
        until(lambda: one.ask("getVM")["isolates"], "an isolate")
        assert dart_code.drive(service.uri)["threads"] > 0
        assert dart_code.drive(service.uri)["threads"] > 0  # after the first has gone


@pytest.mark.parametrize("command", [SPIN, [workload("threads")], ["bash", "-c", SCRIPT]],
                         ids=["one thread", "threads", "script"])
def test_the_java_client_finds_what_it_reads_and_every_id_answers(client, command):
    with service_of(command) as service:
        one = client(service.uri)
        until(lambda: one.ask("getVM")["isolates"], "an isolate")
        walked = java_client.walk(service.uri)
        assert not walked.wrong
        assert len(walked.known) > 10


def test_clients_that_know_no_stalls_show_them_with_their_stack(client):
    """DevTools' log and Dart-Code's console show the message and the text that error has."""
    with service_of([sys.executable, "-c", LATE]) as service:
        one = client(service.uri)
        until(lambda: one.ask("_getStalls")["stalls"], "a stall")
        adapter = dart_code.DartCode(service.uri)
        adapter.attach()
        assert any("loop '" in message for message in adapter.log_messages())
        told = [params["event"] for params in adapter.client.events if params["streamId"] == "Logging"]
        record = next(event["logRecord"] for event in told
                      if event["logRecord"]["loggerName"]["valueAsString"] == "isoscope.stall")
        assert record["level"] == 1000
        assert len(record["error"]["valueAsString"].splitlines()) > 3
        isolate = told[-1]["isolate"]["id"]
        for member in ("message", "error", "loggerName"):
            whole = one.ask("getObject", isolateId=isolate, objectId=record[member]["id"])
            assert whole["valueAsString"] == record[member]["valueAsString"]
        adapter.disconnect()
        assert not java_client.walk(service.uri).wrong


def test_every_url_of_a_function_is_a_script_of_its_isolate(client):
    with service_of(SPIN) as service:
        one = client(service.uri)
        until(lambda: samples_of(one, "spin_two_to_one", 50), "samples")
        isolate = {"isolateId": one.ask("getVM")["isolates"][0]["id"]}
        samples = one.ask("getCpuSamples", **isolate, **java_client.WHOLE)
        uris = {script["uri"] for script in one.ask("getScripts", **isolate)["scripts"]}
        urls = {function["resolvedUrl"] for function in samples["functions"]} - {""}
        assert urls and not urls - uris
        assert not [url for url in urls if "/./" in url or "/../" in url]


def test_scripts_are_those_of_the_isolates_own_process(client):
    both = f"{workload('deep_recursion')} 50 1000 & {' '.join(SPIN)} & wait"
    with service_of(["bash", "-c", both]) as service:
        one = client(service.uri)
        for name in ("spin_two_to_one", "deep_recursion"):
            until(lambda name=name: samples_of(one, name, 20), f"samples of {name}")
        for isolate in one.ask("getVM")["isolates"]:
            one.ask("getCpuSamples", isolateId=isolate["id"], **java_client.WHOLE)
        for isolate in one.ask("getVM")["isolates"]:
            program = isolate["name"].partition(":")[0]
            scripts = one.ask("getScripts", isolateId=isolate["id"])["scripts"]
            modules = {script["uri"].partition(":")[2].partition("/")[0] for script in scripts}
            assert modules <= {program}
            assert modules or program == "bash"


def test_behind_a_wrapper_the_vm_is_the_program_that_runs(client):
    with service_of(["bash", "-c", WRAPPER]) as service:
        one = client(service.uri)
        until(lambda: samples_of(one, "spin_two_to_one:main()", 20), "samples")
        vm = one.ask("getVM")
        assert vm["pid"] == service.program()
        assert vm["_currentRSS"] > 0 and vm["_maxRSS"] > 0
        first = vm["isolates"][0]
        assert (first["name"], first["_pid"]) == ("spin_two_to_one:main()", vm["pid"])
        assert vm["isolateGroups"][0]["id"] == first["isolateGroupId"]
        assert one.ask("getIsolate", isolateId=first["id"])["_process"]["live"]


def test_a_scripts_short_children_stay_out_of_the_list_and_answer_by_their_ids(client):
    with service_of(["bash", "-c", SCRIPT], "--period", "200") as service:
        one = client(service.uri)
        until(lambda: samples_of(one, "spin_two_to_one:main()", 500), "samples")
        vm = one.ask("getVM")
        assert vm["pid"] == service.program()
        assert len(vm["isolates"]) < 10
        names = [isolate["name"] for isolate in vm["isolates"]]
        assert len(set(names)) == len(names)
        assert {group["id"] for group in vm["isolateGroups"]} == \
            {isolate["isolateGroupId"] for isolate in vm["isolates"]}
        for isolate in vm["_endedIsolates"]:
            found = one.ask("getIsolate", isolateId=isolate["id"])
            assert not found["_process"]["live"]
            assert one.ask("getCpuSamples", isolateId=isolate["id"],
                           **java_client.WHOLE)["sampleCount"] > 0


def test_processes_of_one_name_are_told_apart_by_their_pids(client):
    two = f"{' '.join(SPIN)} & {' '.join(SPIN)} & wait"
    with service_of(["bash", "-c", two]) as service:
        one = client(service.uri)
        pids = until(lambda: len(children(service.program())) == 2 and
                     children(service.program()), "both children")
        wanted = {f"spin_two_to_one:main() {pid}" for pid in pids}
        # "#2" where bash was sampled in the pid before it became the program.
        until(lambda: wanted <= {isolate["name"].removesuffix(" #2")
                                 for isolate in one.ask("getVM")["isolates"]}, "names with pids")
        # bash has its pid behind its name where a child was sampled while it still was bash.
        assert {"bash:main()", f"bash:main() {service.program()}"} & \
            {isolate["name"] for isolate in one.ask("getVM")["isolates"]}
        assert os.path.exists(f"/proc/{one.ask('getVM')['pid']}")
