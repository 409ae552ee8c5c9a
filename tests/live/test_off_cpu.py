"""`isoscope attach --off-cpu`: where threads give their processor away, for how long, and who wakes them."""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import pytest
from harness import ISOSCOPE, Client, attached, end, measured, until, workload

AWAY = workload("gives_processor_away")


@contextmanager
def program(rounds: int):
    """The process, and the tid of its second thread; it waits for a line."""
    process = subprocess.Popen([AWAY, str(rounds)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        word, waker = process.stdout.readline().split()
        assert word == "ready"
        yield process, int(waker)
    finally:
        end(process)


def finish(process) -> dict[str, int]:
    """Microseconds that it was in each function, by its own clock."""
    process.stdin.write("\n")
    process.stdin.flush()
    return {name: int(us) for name, us in (process.stdout.readline().split() for _ in range(2))}


@functools.cache
def refused() -> str:
    """The kernel's own words; "": it is not."""
    with program(1) as (process, _):
        done = subprocess.run([ISOSCOPE, "attach", "--off-cpu", "--for", "1", str(process.pid)], capture_output=True,
                              text=True, timeout=60)
    return done.stderr.strip() if done.returncode else ""


@pytest.fixture
def allowed():
    if refused():
        pytest.skip(refused())


def waits(service, tid: int):
    """Of that thread: microseconds by function, by what was waited for and by who woke it; and how many."""
    by_function, by_what, by_waker = Counter(), Counter(), Counter()
    count = 0.0
    with Client(service.uri) as client:
        profile = client.profile(kind="wait")
        for place, row in enumerate(profile.samples()):
            if row.thread.tid != tid:
                continue
            names = [frame.function.name for frame in profile.stack(row.node)]
            for function in {"nap", "partner"} & set(names):
                by_function[function] += row.weight_us
                by_what[profile.waited_for[place]] += row.weight_us
                by_waker[function, profile.holders[place]] += row.weight_us
                count += profile.objects[place]
    return by_function, by_what, by_waker, count


def reads_us(service, tid: int) -> int:
    """How long the program has waited for a second line, after all else; the wait for the first one began before us."""
    with Client(service.uri) as client:
        profile = client.profile(kind="wait")
        return sum(row.weight_us for row in profile.samples() if row.thread.tid == tid
                   and any("getc" in frame.function.name for frame in profile.stack(row.node)))


@measured
def test_time_off_the_processor_is_what_the_program_measured(allowed):
    with program(40) as (process, waker), attached(process.pid, "--off-cpu") as service:
        right = finish(process)
        until(lambda: reads_us(service, process.pid) > 0, "its next wait: those before are told")
        told, what, wakers, count = waits(service, process.pid)
    for function in ("nap", "partner"):
        assert told[function] == pytest.approx(right[function], rel=0.03)
    assert 80 <= count <= 120  # one for each; and where another program had the processor
    assert set(what) <= ({"sleep", "processor", "disk"} if os.geteuid() == 0 else {"blocked"})


@measured
@pytest.mark.skipif(os.geteuid() != 0, reason="only root is shown who wakes a thread")
def test_who_wakes_a_thread_is_told(allowed):
    with program(20) as (process, waker), attached(process.pid, "--off-cpu") as service:
        right = finish(process)
        until(lambda: reads_us(service, process.pid) > 0, "its next wait: those before are told")
        _, _, wakers, _ = waits(service, process.pid)
    assert wakers["partner", waker] >= 0.95 * right["partner"]
    assert wakers["nap", 0] >= 0.8 * right["nap"]  # time does it, at most in a thread of the kernel's
    assert not wakers["nap", waker]


def test_a_thread_that_waits_on_is_told_while_it_waits(allowed):
    with program(1) as (process, waker), attached(process.pid, "--off-cpu") as service:
        finish(process)  # and it waits for a second line
        until(lambda: reads_us(service, process.pid) >= 1_500_000, "a second and a half of its wait")


@measured
def test_of_threads_that_switch_often_some_switches_stand_for_all(allowed, tmp_path):
    """More than are copied: two threads that wake each other, as fast as they can."""
    source, ping = tmp_path / "pings.c", tmp_path / "pings"
    source.write_text(PINGS)
    subprocess.run(["cc", "-O1", "-pthread", "-o", ping, source], check=True)
    process = subprocess.Popen([ping], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        with attached(process.pid, "--off-cpu", "--stats") as service:
            process.stdin.write("\n")
            process.stdin.flush()
            switches, waited_us = map(int, process.stdout.readline().split())

            def told() -> tuple[float, float, int]:
                with Client(service.uri) as client:
                    profile = client.profile(kind="wait")
                    places = [place for place, row in enumerate(profile.samples()) if row.thread.tid == process.pid
                              and any(frame.function.name == "wait_for_other" for frame in profile.stack(row.node))]
                    return (sum(profile.weights_us[place] for place in places),
                            sum(profile.objects[place] for place in places), len(places))

            us, count, copies = told()
    finally:
        end(process)
    assert switches > 5 * 2000  # else nothing is left out
    assert copies < switches
    assert us == pytest.approx(waited_us, rel=0.25)
    assert count == pytest.approx(switches, rel=0.25)


PINGS = """
#define _GNU_SOURCE
#include <stdio.h>
#include <pthread.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
static int there[2], back[2];
static void *answer(void *unused)
{
    char word;
    while (read(there[0], &word, 1) == 1) if (write(back[1], &word, 1) != 1) break;
    return unused;
}
static long long now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}
static __attribute__((noinline)) void wait_for_other(void) { char word; if (read(back[0], &word, 1) != 1) _exit(2); }
int main(void)
{
    pthread_t thread;
    struct rusage before_all, after_all;
    long long waited = 0, begin;
    if (pipe(there) || pipe(back)) return 2;
    pthread_create(&thread, 0, answer, 0);
    getchar();
    getrusage(RUSAGE_THREAD, &before_all);
    for (begin = now_us(); now_us() - begin < 4000000;) {
        long long before;
        if (write(there[1], "x", 1) != 1) return 2;
        before = now_us();
        wait_for_other();
        waited += now_us() - before;
    }
    getrusage(RUSAGE_THREAD, &after_all);
    printf("%ld %lld\\n", after_all.ru_nvcsw - before_all.ru_nvcsw, waited);
    fflush(stdout);
    getchar();
    return 0;
}
"""


def test_other_ways_do_not_see_waits():
    with program(1) as (process, _):
        done = subprocess.run([ISOSCOPE, "attach", "--off-cpu", "--via", "suspend", str(process.pid)],
                              capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "--off-cpu goes with --via perf only" in done.stderr


def test_a_command_shows_the_waits_of_a_process(allowed):
    with program(1000) as (process, waker):
        process.stdin.write("\n")
        process.stdin.flush()
        done = subprocess.run([ISOSCOPE, "locks", "--waits", "-p", str(process.pid), "--last", "2s"],
                              capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "partner" in done.stdout
    if os.geteuid() == 0:
        assert f"({waker})" in done.stdout and "woken by" in done.stdout


# A thread that computes and never waits: two of them share a processor.
SHARES = """
import os
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
if os.fork() == 0:
    while True: pass
print("ready", flush=True)
while True: pass
"""


def schedstat_us(pid: int) -> tuple[float, float]:
    """On a processor, and in want of one, by the kernel's own count."""
    ran, waited = Path(f"/proc/{pid}/schedstat").read_text().split()[:2]
    return int(ran) / 1e3, int(waited) / 1e3


def off_between(service, pid: int, begin_us: int, end_us: int) -> Counter[str]:
    """Microseconds off the processor by the state of the sample, of waits that lay in between."""
    by_state: Counter[str] = Counter()
    with Client(service.uri) as client:
        profile = client.profile(kind="wait")
        for row in profile.samples():
            if row.thread.tid == pid and begin_us <= row.time_us <= end_us:
                by_state[row.state] += row.weight_us
    return by_state


@measured
def test_time_off_the_processor_is_what_the_kernel_counts_of_a_thread_that_wants_one(allowed):
    """Its schedstat: the band is of the waits at both ends of the interval, and of what passes between two reads."""
    process = subprocess.Popen(["/usr/bin/python3", "-c", SHARES], stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        assert process.stdout.readline() == "ready\n"
        with attached(process.pid, "--off-cpu") as service:
            begin_us, (ran_before, waited_before) = now_us(), schedstat_us(process.pid)
            until(lambda: schedstat_us(process.pid)[1] - waited_before >= 3e6, "three seconds without a processor")
            end_us, (ran, waited) = now_us(), schedstat_us(process.pid)
            # Waits are told when they end: one that ended after all of these says that these are told.
            until(lambda: off_between(service, process.pid, end_us, end_us + 10**9), "a later wait")
            told = off_between(service, process.pid, begin_us, end_us)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        end(process)
    elapsed_us = end_us - begin_us
    assert sum(told.values()) == pytest.approx(waited - waited_before, rel=0.1)
    assert sum(told.values()) + (ran - ran_before) == pytest.approx(elapsed_us, rel=0.1)
    if os.geteuid() == 0:  # the state is the scheduler's word
        assert told["Runnable"] >= 0.98 * sum(told.values()), told


def now_us() -> int:
    return time.monotonic_ns() // 1000
