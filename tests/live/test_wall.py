"""Wall mode: all threads in each period, the sleeping ones too, and nobody's sleep is disturbed."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections import Counter, defaultdict
from contextlib import contextmanager
from typing import NamedTuple

import pytest
from harness import (DEADLINE_S, ISOSCOPE, Client, end, measured, profiled, service_of, until,
                     workload)

# What each thread of the workload does, by its name. A thread that computes may lose its processor,
# and one that wakes 500 times a second may wait for one each time.
STATES = {
    "computes": {"Running", "Runnable"},
    "locked": {"Lock"},
    "polls": {"Sleep", "Runnable"},
    "reads": {"IO"},
    "sleeps": {"Sleep"},
}
LONG_S = "1000"  # the test ends it
FUNCTIONS = {name: "polls_often" if name == "polls" else name for name in STATES}


class Sample(NamedTuple):
    timestamp_us: int
    thread: str
    state: str
    stack: list[str]  # leaf first
    whole: bool


def samples_of(client: Client, since_us: int = 0) -> list[Sample]:
    found = []
    for process in client.processes():
        everything = {"timeOriginMicros": since_us, "timeExtentMicros": 2**53}
        reply = client.call("getCpuSamples", isolateId=process.id, **everything)
        names = [entry["function"]["name"] for entry in reply["functions"]]
        for sample in reply["samples"]:
            stack = [names[index] for index in sample["stack"]]
            whole = not sample.get("truncated", False)
            place = (sample["timestamp"], sample["userTag"], sample["vmTag"])
            found.append(Sample(*place, stack, whole))
    return found


@contextmanager
def waits(seconds: str, *options):
    """The workload's run -> (samples, output)."""
    command = [workload("waits"), seconds]
    with profiled(command, "--mode", "wall", *options, stdout=subprocess.PIPE) as service:
        with Client(service.uri) as client:
            yield samples_of(client), service.process.stdout.readline().decode()


@contextmanager
def waits_long_enough(polls_min: int):
    """A busy machine needs longer for so many polls: the run -> (samples, polls, interrupted)."""
    for seconds in ("3", "12", "48"):
        with waits(seconds) as (samples, output):
            polls, interrupted = map(int, re.findall(r"\d+", output))
        if polls >= polls_min:
            break
    yield samples, polls, interrupted


@measured
def test_every_thread_is_seen_equally_often_where_it_is_and_in_its_state():
    with waits_long_enough(500) as (samples, polls, interrupted):
        by_thread = defaultdict(list)
        for sample in samples:
            by_thread[sample.thread].append(sample)
        counts = {name: len(by_thread[name]) for name in STATES}
        middle = sorted(counts.values())[len(counts) // 2]
        assert middle >= 500, "hardly any samples"
        for name, states in STATES.items():
            mine = by_thread[name]
            assert abs(len(mine) - middle) <= 0.1 * middle, counts
            told = Counter(sample.state for sample in mine)
            assert sum(told[state] for state in states) >= 0.9 * len(mine), (name, told)
            assert sum(s.whole for s in mine) >= 0.95 * len(mine), name
            assert sum(FUNCTIONS[name] in s.stack for s in mine) >= 0.95 * len(mine), name
        assert polls >= 500
        assert interrupted <= 0.01 * polls


def test_the_program_that_only_sleeps_is_seen_asleep_all_the_time():
    with service_of(["sleep", "1"], "--mode", "wall") as service:
        service.wait_for_end()
        with Client(service.uri) as client:
            samples = samples_of(client)
    assert len(samples) >= 300
    # Before and after, it may wait for a processor.
    asleep = [at for at, s in enumerate(samples) if s.state == "Sleep"]
    assert len(asleep) >= 0.95 * (asleep[-1] - asleep[0] + 1)
    assert len(asleep) >= 300


def latest(samples: list[Sample], state: str) -> int:
    return max((s.timestamp_us for s in samples if s.state == state), default=0)


def test_the_mode_changes_while_the_program_runs():
    with service_of([workload("waits"), LONG_S]) as service, Client(service.uri) as client:
        until(lambda: latest(samples_of(client), "Running"), "samples in CPU mode")
        assert {s.state for s in samples_of(client)} == {"Running"}
        assert client.flags()["profile_mode"] == "cpu"

        client.call("setFlag", name="profile_mode", value="wall")
        assert client.flags()["profile_mode"] == "wall"
        for state in ("Lock", "IO", "Sleep"):
            until(lambda: latest(samples_of(client), state), f"threads in state {state}")

        client.call("setFlag", name="profile_mode", value="cpu")
        # What was on its way may still come; then running threads alone are seen.
        switched = latest(samples_of(client), "Sleep")
        until(
            lambda: latest(samples_of(client), "Running") > switched + 500_000,
            "samples in CPU mode again",
        )
        assert latest(samples_of(client), "Sleep") < switched + 250_000


def test_wall_mode_samples_the_threads_that_were_chosen_and_no_others():
    def later(state: str, thread: str, after_us: int) -> bool:
        return any(
            s.timestamp_us > after_us and (s.state, s.thread) == (state, thread)
            for s in samples_of(client, after_us)
        )

    command = [workload("waits"), LONG_S]
    with service_of(command, "--mode", "wall") as service, Client(service.uri) as client:
        for state in ("Lock", "IO", "Sleep"):
            until(lambda: latest(samples_of(client), state), f"threads in state {state}")
        client.call("setFlag", name="profile_wall_threads", value="read*, locked")
        assert client.flags()["profile_wall_threads"] == "read*, locked"
        told_us = max(s.timestamp_us for s in samples_of(client))
        settled_us = told_us + 250_000
        until(lambda: later("IO", "reads", settled_us + 250_000), "a chosen thread")
        until(lambda: later("Lock", "locked", settled_us + 250_000), "the other chosen thread")
        threads = {s.thread for s in samples_of(client) if s.timestamp_us > settled_us}
        assert threads == {"reads", "locked"}

        client.call("setFlag", name="profile_wall_threads", value="*")
        until(lambda: later("Sleep", "sleeps", settled_us), "all threads again")


def test_forked_children_are_sampled_in_the_mode_of_the_service():
    script = "import os, time\nif os.fork() == 0:\n    time.sleep(1)\n    os._exit(0)\nos.wait()\n"
    command = ["/usr/bin/python3", "-S", "-c", script]
    with service_of(command, "--mode", "wall") as service:
        service.wait_for_end()
        with Client(service.uri) as client:
            assert len(client.processes()) == 2
            leaves = Counter(sample.stack[0] for sample in samples_of(client))
    assert leaves["wait4"] >= 300, leaves
    assert sum(count for name, count in leaves.items() if "nanosleep" in name) >= 300, leaves


@pytest.mark.parametrize(("idle", "seconds"), [(0, 4), (16, 4), (200, 1.5)])
@measured
def test_shares_of_a_thread_are_its_own_clocks_beside_spinners_and_idle_threads(idle, seconds):
    """Whoever looks has a processor just then: what it meets leans to sleep, clocks do not."""
    command = [workload("among_idle"), str(seconds), "4", str(idle)]
    with profiled(command, "--mode", "wall", stdout=subprocess.PIPE) as service:
        with Client(service.uri) as client:
            told = Counter(s.state for s in samples_of(client) if s.thread == "works")
        ran, waited = map(float, service.process.stdout.readline().split())
    whole = sum(told.values())
    assert whole >= 500 * seconds, told
    assert abs(told["Running"] / whole - ran) <= 0.02, (told, ran, waited)
    assert abs(told["Runnable"] / whole - waited) <= 0.02, (told, ran, waited)


# Until a file is there.
CLOSED = """
import ctypes, os, sys, threading, time
PR_SET_DUMPABLE = 4
ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
threading.Thread(target=time.sleep, args=(100000,), daemon=True).start()
while not os.path.exists(sys.argv[1]):
    sum(range(1000))
"""


def ordinary_user(tmp_path) -> list[str]:
    """Words before a command: root reads every program."""
    if os.geteuid() != 0:
        return []
    tmp_path.chmod(0o777)
    words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    # By a program of that user's: setpriv's own exec is still root's.
    tried = subprocess.run([*words, "/bin/sh", "-c", '"$0" run --quiet true', ISOSCOPE], capture_output=True)
    if tried.returncode != 0:
        pytest.skip("another user may not run what was built here")
    return words


def counted(client: Client, counter: str) -> int:
    return sum(client.call("getIsolate", isolateId=process.id)["_process"]["counters"][counter]
               for process in client.processes())


def test_a_program_that_nobody_may_read_is_sampled_where_it_runs_and_the_rest_is_told(short_path):
    info, stop = short_path / "info.json", short_path / "stop"
    command = [*ordinary_user(short_path), ISOSCOPE, "run", "--quiet", "--stats", "--mode", "wall",
               "--write-service-info", str(info), "--", "/usr/bin/python3", "-c", CLOSED, str(stop)]
    environment = {**os.environ, "HOME": str(short_path), "TMPDIR": str(short_path)}
    environment.pop("XDG_RUNTIME_DIR", None)
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        until(info.exists, "the service")
        with Client(json.loads(info.read_text())["uri"]) as client:
            until(lambda: counted(client, "lost_no_rights") >= 500 and counted(client, "delivered") >= 300,
                  "rounds", 5 * DEADLINE_S)
        stop.touch()
        stderr = process.communicate(timeout=DEADLINE_S)[1]
    finally:
        end(process)
    assert process.returncode == 0, stderr
    lost = re.search(r"lost +(\d+)  a thread slept, and the kernel does not let isoscope read its stack",
                     stderr)
    delivered = re.search(r"delivered +(\d+)", stderr)
    assert lost and int(lost[1]) >= 500, stderr
    assert int(delivered[1]) >= 300, stderr
