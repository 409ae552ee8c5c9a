"""Loops that are late: which of them are told, how long they took, and which function did it."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from harness import DEADLINE_S, ISOSCOPE, Client, service_of, service_pid, serving, until, workload
from stall_loop import (TRIES, Step, all_stalls, ended_stalls, loop_of, loops, overlap, stall_loop, step_of, switches, told_stalls,
                        unchanged_for, wrong_times)

LIMIT_MS = 250
LEVELS = {"stall": 250, "hang": 2000, "dead": 5000}
LOOK_NS = 5_000_000  # between two looks at a late loop's thread


def level_at(micros: float) -> str:
    return next((name for name, ms in reversed(LEVELS.items()) if micros >= ms * 1000), "")


@pytest.fixture(scope="module")
def loop():
    with stall_loop() as loop:
        yield loop


@pytest.mark.parametrize("ms", [30, 60, 240])
def test_a_dispatch_within_the_limit_is_no_stall(loop, ms):
    steps = [loop.do(f"busy:{ms}") for _ in range(3)]
    for stall in loop.settle(LIMIT_MS):
        for step in steps:
            if overlap(stall, step):  # on a busy machine it may have taken longer
                assert step.max_us >= LIMIT_MS * 1000, stall


@pytest.mark.parametrize("ms", [260, 1900, 2100, 6000])
def test_a_dispatch_over_the_limit_is_told_with_its_time_and_level(loop, ms):
    for _ in range(TRIES):
        step = loop.do(f"busy:{ms}")
        loop.settle(LIMIT_MS)
        if stall := loop.find(step):
            break
        # Nobody looked while it lasted, if the machine stood still. Never so each time.
    assert stall, "none was told"
    assert not stall["ongoing"]
    assert wrong_times(stall, step) == ""
    assert stall["level"] in {level_at(step.min_us), level_at(step.max_us)}
    assert stall["limitMicros"] == LIMIT_MS * 1000
    assert stall["durationMicros"][1] >= LIMIT_MS * 1000
    # What it does not know is what its own looks were late, and the time between two of them.
    shortest, longest = stall["durationMicros"]
    assert longest - shortest <= stall["hostLateMicros"] + 2 * 4000 + (step.max_us - step.min_us)
    assert stall["cause"] in {"busy", "starved", "host"}
    parts = stall["runningMicros"] + stall["runnableMicros"] + stall["sleepingMicros"]
    assert parts <= 1.1 * longest + 2 * 4000
    assert stall["culprit"]["function"] == "busy"


def test_the_culprit_is_what_took_longest_and_not_what_runs_in_the_end(loop):
    """decode, render, compress, store: render is it, and store runs when the limit has passed."""
    right = 0
    for _ in range(40):
        step, stall = loop.stalled("decode:20,render:150,compress:30,store:110")
        expected = step.clear_longest(4 * LOOK_NS)
        if expected is None:
            continue  # a function had to wait for its processor
        assert stall["culprit"]["function"] == expected, (step, stall)
        right += expected == "render"
        if right == 5:
            break
    assert right > 0, "render was never the one that took longest"
    names = [run["function"] for run in stall["story"]]
    assert names.index("render") < len(names) - 1 - names[::-1].index("store")
    assert "loop_run" in stall["prefix"] and "render" not in stall["prefix"]


def test_two_places_in_one_function_are_one_culprit(loop):
    for _ in range(TRIES):
        step, stall = loop.stalled("render:100,two_places:200")
        if step.clear_longest(10 * LOOK_NS) == "two_places":
            break
    else:
        pytest.fail("two_places never took longest")
    assert stall["culprit"]["function"] == "two_places"
    assert stall["culprit"]["micros"] * 1000 >= 0.5 * step.parts[1].ns


def test_shares_within_a_stall_are_those_of_its_functions(loop):
    """foo, bar and baz take 32 : 6 : 2."""
    looks, hits = 0, 0
    for _ in range(4):
        _step, stall = loop.stalled("mix:400")
        assert stall["culprit"]["function"] == "foo"
        assert stall["culprit"]["share"] == pytest.approx(stall["culprit"]["looks"] / stall["looks"], abs=0.01)
        looks += stall["looks"]
        hits += stall["culprit"]["looks"]
    assert looks >= 100
    band = 4.5 * math.sqrt(0.8 * 0.2 / looks)
    assert abs(hits / looks - 0.8) <= band, (hits, looks)


def test_two_loops_of_a_program_are_late_at_once_and_each_has_its_own_culprit():
    words = ("render:800", "wait:1", "+", "store:800")
    with service_of([workload("stall_loop"), *words], "--quiet", stdout=-1) as service:
        steps = steps_printed(service, 2)
        with Client(service.uri) as client:
            culprits = {stall["thread"]: stall["culprit"]["function"] for stall in ended_stalls(client, steps)}
    assert culprits == {"stall_loop": "render", "loop1": "store"}


def test_equal_stalls_are_told_less_and_less_often_and_all_are_counted():
    with stall_loop("--stall-limit", "40") as loop:
        loop.send("60*render:60")
        steps = [loop.done() for _ in range(60)]
        loop.settle(200)
        stalls = [stall for stall in loop.stalls() if stall.get("culprit", {}).get("function") == "render"]
        until(lambda: sum(loop_of(loop.client, loop.pid)["causes"].values()) == len(loop.stalls()),
              "all are counted")
    assert len(stalls) >= 30  # few are missed: of a machine that stands still
    assert all(any(overlap(stall, step) for step in steps) for stall in stalls)
    # A stall whose names come late is counted after the next one.
    equals = sorted(stall["equals"] for stall in stalls)
    assert equals == list(range(1, len(stalls) + 1))
    told = sorted(stall["equals"] for stall in stalls if stall["told"])
    assert told == [n for n in (1, 2, 3, 5, 8, 13, 21, 34, 55) if n <= len(stalls)]


def test_a_loop_that_rests_wakes_nobody_and_has_no_stalls():
    with stall_loop() as loop:
        loop.settle(LIMIT_MS)
        loop.send("quiet")
        watcher = service_pid(loop.service.process.pid)
        assert switches(watcher, "iso-loops") > 0
        until(lambda: unchanged_for(lambda: (switches(watcher, "iso-loops"), switches(loop.pid)), 5),
              "rest, of the loop and of who watches it")
        rested_us = (time.monotonic() - 5) * 1e6
        assert [stall for stall in loop.stalls() if stall["startMicros"][1] > rested_us] == []
        # And it is awake when it is needed.
        assert loop.stalled("busy:600")


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def stand_still(pid: int, seconds: float) -> None:
    """SIGSTOP, for so long from when it took effect."""
    os.kill(pid, signal.SIGSTOP)
    try:
        until(lambda: state_of(pid) == "T", "it is stopped")
        end = time.monotonic() + seconds
        until(lambda: time.monotonic() > end, "the time of a stop")
    finally:
        os.kill(pid, signal.SIGCONT)


def test_a_program_that_is_stopped_has_no_stall(tmp_path):
    """In the middle of a dispatch, for longer than its limit."""
    limit_ms = 3000
    with stall_loop("--stall-limit", str(limit_ms)) as loop:
        for attempt in range(TRIES):
            go_on = tmp_path / str(attempt)
            loop.begun(f"hold:{go_on}")
            began = time.monotonic()
            stand_still(loop.pid, 5)
            go_on.touch()
            step = loop.done()
            if time.monotonic() - began < 5 + 0.5 * limit_ms / 1000 and step.min_us >= 5e6:
                break  # else the machine was late as well
        else:
            pytest.skip("the machine stood still each time")
        loop.settle(limit_ms)
        assert loop.find(step) is None
        assert loop_of(loop.client, loop.pid)["dismissed"] >= 1


def test_a_service_that_stands_still_says_that_it_is_the_host(tmp_path):
    """For less than the time after which programs look for another one."""
    for attempt in range(TRIES):
        with stall_loop() as loop:
            go_on = tmp_path / str(attempt)
            loop.begun(f"hold:{go_on}")
            loop.ongoing()
            stand_still(service_pid(loop.service.process.pid), 1.5)
            goes_on = loop_of(loop.client, loop.pid)
            until(lambda: loop.stalls()[0]["hostLateMicros"] > 1_000_000, "it knows how late it was")
            go_on.touch()
            step = loop.done()
            if not goes_on or not loop_of(loop.client, loop.pid):
                continue  # it stood still for longer
            stall = loop.stall_of(step)
            assert wrong_times(stall, step) == ""
            if stall["durationMicros"][1] < 1.5 * stall["hostLateMicros"]:
                assert stall["cause"] == "host"
                return
    pytest.skip("this test was late itself, each time")


def test_a_loop_that_gets_no_processor_is_starved():
    with stall_loop() as loop:
        _step, stall = loop.stalled("starve:30")
        assert stall["cause"] in {"starved", "host"}, stall
        assert stall["runnableMicros"] > stall["runningMicros"]


def test_a_stall_is_there_while_it_lasts_and_grows(tmp_path):
    with stall_loop() as loop:
        loop.begun(f"hold:{tmp_path / 'go on'}")
        first = loop.ongoing()
        assert first["culprit"]["function"] in {"hold", "access"} or first["looks"] == 0
        longer = until(lambda: (s := loop.ongoing())["level"] == "hang" and s, "it is a hang")
        assert longer["number"] == first["number"]
        assert longer["durationMicros"][0] > first["durationMicros"][0]
        (tmp_path / "go on").touch()
        last = loop.stall_of(loop.done())
        assert last["number"] == first["number"] and last["level"] in {"hang", "dead"}


def test_a_cursor_gives_what_has_changed_since():
    with stall_loop() as loop:
        def numbers(**params) -> set[int]:
            return {stall["number"] for stall in all_stalls(loop.client, **params)}

        first = loop.stalled("busy:600")[1]
        cursor = loop.client.call("_getStalls")["next"]
        second = loop.stalled("sleep:600")[1]
        assert first["number"] not in numbers(since=cursor) and second["number"] in numbers(since=cursor)
        window = {"timeOriginMicros": first["timeOriginMicros"], "timeExtentMicros": first["timeExtentMicros"]}
        assert first["number"] in numbers(**window) and second["number"] not in numbers(**window)
        loop.client.call("_clearStalls")
        assert not {first["number"], second["number"]} & numbers()
        assert loop.stalled("busy:600")[1]["number"] > second["number"]


def test_samples_of_a_stalls_window_show_its_culprit():
    with stall_loop() as loop:
        _step, stall = loop.stalled("render:600")
        told = loop.client.call("getCpuSamples", isolateId=stall["isolateId"],
                                timeOriginMicros=stall["timeOriginMicros"],
                                timeExtentMicros=stall["timeExtentMicros"])
        names = [entry["function"]["name"] for entry in told["functions"]]
        leaves = [names[sample["stack"][0]] for sample in told["samples"] if sample["tid"] == loop.pid]
        assert leaves.count("render") >= 0.9 * len(leaves) > 0


def test_which_loops_are_watched_can_be_changed_while_it_runs():
    with stall_loop() as loop:
        loop.client.set_flag("stall_watch", "none")
        until(lambda: not (found := loop_of(loop.client, loop.pid)) or not found["watched"], "it is not watched")
        step = loop.do("busy:600")
        loop.client.set_flag("stall_watch", "stall*,other")
        until(lambda: (found := loop_of(loop.client, loop.pid)) and found["watched"], "it is watched again")
        loop.settle(LIMIT_MS)
        assert loop.find(step) is None
        loop.client.set_flag("stall_limit", "100")
        _step, stall = loop.stalled("busy:300")
        assert stall["limitMicros"] == 100_000


def test_a_thread_that_reads_one_descriptor_is_no_loop(tmp_path):
    """And one that polls a single one: a client that waits for its answers."""
    script = ("import os, select, sys\n"
              "a, b = os.pipe()\n"
              "poll = select.poll(); poll.register(a, select.POLLIN)\n"
              "for i in range(3000):\n"
              "    os.write(b, b'x'); os.read(a, 1)\n"
              "    poll.poll(0); select.select([a], [], [], 0)\n")
    with service_of(["/usr/bin/python3", "-S", "-c", script], "--quiet") as service:
        service.wait_for_end()
        with Client(service.uri) as client:
            assert loops(client) == []


def steps_printed(service, count: int) -> list[Step]:
    found: list[Step] = []
    while len(found) < count:
        told = json.loads(service.process.stdout.readline())
        found += [step_of(told)] if "step" in told else []
    return found


def test_a_forked_child_has_loops_of_its_own():
    words = ["busy:500", "fork", *["wait:20"] * 20, "render:900"]
    with service_of([workload("stall_loop"), *words], "--quiet", stdout=-1) as service:
        steps = steps_printed(service, 3)
        assert len({step.pid for step in steps}) == 2
        with Client(service.uri) as client:
            for step, stall in zip(steps, ended_stalls(client, steps)):
                assert wrong_times(stall, step) == ""
                if step.text.startswith("render"):
                    assert stall["culprit"]["function"] == "render"


def test_a_program_is_watched_after_an_exec():
    words = ["busy:500", "exec", "render:900"]
    with service_of([workload("stall_loop"), *words], "--quiet", stdout=-1) as service:
        steps = steps_printed(service, 2)
        with Client(service.uri) as client:
            culprits = [stall["culprit"]["function"] for stall in ended_stalls(client, steps)]
    assert culprits == ["busy", "render"] and steps[0].pid == steps[1].pid


def test_a_stall_in_which_the_program_crashes_stays_told():
    with stall_loop() as loop:
        loop.begun("crash:1500")
        first = loop.ongoing()
        loop.service.wait_for_end()
        stall = until(lambda: (s := loop.stalls()) and not s[-1]["ongoing"] and s[-1], "it has ended")
        assert stall["number"] == first["number"]
        assert stall["durationMicros"][1] >= first["durationMicros"][0]
        assert stall["culprit"]["function"] == "busy"


def test_a_client_that_goes_while_a_stall_is_told_harms_nobody(tmp_path):
    with stall_loop() as loop:
        with Client(loop.service.uri) as other:
            other.listen("Extension", "Logging", "Profiler")
            loop.begun(f"hold:{tmp_path / 'go on'}")
            loop.ongoing()
        (tmp_path / "go on").touch()
        assert loop.stall_of(loop.done())
        assert loop.stalled("busy:600")


RAW = r"""
#include <sys/epoll.h>
#include <sys/syscall.h>
int main(void)
{
    struct epoll_event event;
    int epoll = epoll_create1(0);
    for (int i = 0; i < 100000; i++) {
        register long timeout __asm__("r10") = 2, mask __asm__("r8") = 0, size __asm__("r9") = 8;
        long result;
        __asm__ volatile("syscall" : "=a"(result) : "0"((long)SYS_epoll_pwait), "D"((long)epoll), "S"(&event),
                         "d"(1L), "r"(timeout), "r"(mask), "r"(size) : "rcx", "r11", "memory");
    }
    return 0;
}
"""


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the program is written for x86-64")
def test_a_thread_that_waits_by_system_calls_of_its_own_is_told_as_not_watched(compiled):
    with service_of([compiled("raw", RAW)], "--quiet") as service, Client(service.uri) as client:
        told = until(lambda: client.call("_getLoopStats")["unwatched"], "an unwatched thread")
        assert told[0]["systemCall"] == "epoll_pwait" and told[0]["tid"] == service.program()
        assert told_stalls(client, service.program()) == []


def test_a_saved_session_has_the_same_stalls(tmp_path):
    file = tmp_path / "saved.isoscope"
    with stall_loop() as loop:
        for word in ("render:600", "sleep:600"):
            loop.stalled(word)
        loop.service.process.stdin.close()
        loop.service.wait_for_end()
        until(lambda: all(found["ended"] for found in loops(loop.client)), "its loop has ended")
        subprocess.run([ISOSCOPE, "save", "-o", str(file), loop.service.uri], check=True, capture_output=True,
                       timeout=DEADLINE_S)
        live, stats = all_stalls(loop.client), loops(loop.client)
    with serving(file) as service, Client(service.uri) as client:
        assert all_stalls(client) == live
        assert loops(client) == stats
