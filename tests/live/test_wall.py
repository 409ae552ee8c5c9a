"""Wall mode: all threads in each period, the sleeping ones too, and nobody's sleep is disturbed."""

from __future__ import annotations

import re
import subprocess
from collections import Counter, defaultdict
from contextlib import contextmanager
from typing import NamedTuple

from harness import Client, profiled, service_of, until, workload

# What each thread of the workload does, by its name. A thread that computes may lose its processor.
STATES = {
    "computes": {"Running", "Runnable"},
    "locked": {"Lock"},
    "polls": {"Sleep"},
    "reads": {"IO"},
    "sleeps": {"Sleep"},
}
FUNCTIONS = {name: "polls_often" if name == "polls" else name for name in STATES}


class Sample(NamedTuple):
    timestamp_us: int
    thread: str
    state: str
    stack: list[str]  # leaf first
    whole: bool


def samples_of(client: Client) -> list[Sample]:
    found = []
    for process in client.processes():
        everything = {"timeOriginMicros": 0, "timeExtentMicros": 2**53}
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


def test_every_thread_is_seen_equally_often_where_it_is_and_in_its_state():
    with waits("3") as (samples, output):
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
        polls, interrupted = map(int, re.findall(r"\d+", output))
        assert polls >= 500
        assert interrupted <= 0.01 * polls, output


def test_the_program_that_only_sleeps_is_seen_asleep_all_the_time():
    with service_of(["sleep", "1"], "--mode", "wall") as service:
        service.wait_for_end()
        with Client(service.uri) as client:
            samples = samples_of(client)
    assert len(samples) >= 300
    assert sum(s.state == "Sleep" for s in samples) >= 0.95 * len(samples)


def latest(samples: list[Sample], state: str) -> int:
    return max((s.timestamp_us for s in samples if s.state == state), default=0)


def test_the_mode_changes_while_the_program_runs():
    with service_of([workload("waits"), "60"]) as service, Client(service.uri) as client:
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
            for s in samples_of(client)
        )

    command = [workload("waits"), "60"]
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
    assert leaves["wait4"] + leaves["__GI___wait4"] >= 300, leaves
    assert sum(count for name, count in leaves.items() if "nanosleep" in name) >= 300, leaves
