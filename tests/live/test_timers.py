"""Which timer ticks, and what it must not break."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections import Counter, defaultdict
from contextlib import suppress
from pathlib import Path
from statistics import median

import pytest
from harness import (Client, children, default_timer, measured, profiled, service_of, service_pid, until,
                     workload)

# SIGTRAP is the program's own: its breakpoints must reach its handler, or end it.
TRAPS = r"""
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static volatile sig_atomic_t seen;
static void on_trap(int number) { seen += number == SIGTRAP; }
int main(int count, char **words)
{
    volatile unsigned long sum = 0;
    while (clock() < CLOCKS_PER_SEC / 5)
        sum++;
    if (count > 1)
        signal(SIGTRAP, on_trap);
    for (int i = 0; i < 10; i++)
        raise(SIGTRAP);
    while (clock() < CLOCKS_PER_SEC / 2)
        sum++;
    printf("%d\n", (int)seen);
    return words == NULL;
}
"""

EXECS = r"""
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int count, char **words)
{
    int left = atoi(words[1]);
    char text[16];
    for (volatile int i = 0; i < 300000; i++)
        ;
    if (left == 0)
        return puts("through") < 0;
    snprintf(text, sizeof text, "%d", left - 1);
    execl(words[0], words[0], text, (char *)NULL);
    return count;
}
"""


@pytest.mark.parametrize("asked, chosen", [("auto", "sigtrap"), ("cpu", "cpu-timer")])
def test_the_asked_timer_ticks(start, asked, chosen):
    running = start([workload("spin_two_to_one"), "0.5"], "--timer", asked, "--keep")
    client = running.connect()
    isolate = until(lambda: client.rpc("getVM")["isolates"], "the program")[0]["id"]

    def process():
        return client.rpc("getIsolate", isolateId=isolate)["_process"]

    until(lambda: not process()["live"], "the program's end")
    assert process()["timer"] == (chosen if default_timer().is_trap else "cpu-timer")
    assert process()["counters"]["stored"] >= 50
    assert process()["counters"]["end_root"] == process()["counters"]["delivered"]


def test_who_asks_for_a_slower_timer_is_not_told_of_a_refusal(run):
    program = [workload("spin_two_to_one"), "0.3"]
    ended = run(program, "--timer", "cpu", "--period", "100", "--quiet")
    assert "--timer cpu: CPU-time timers give at most" in ended.stderr
    assert "refused" not in ended.stderr


# Two processes that hand a byte to and fro until they have used a quarter of a second.
PAIR = r"""
#include <signal.h>
#include <time.h>
#include <unistd.h>
int main(void)
{
    int there[2], back[2];
    char byte = 0;
    if (pipe(there) < 0 || pipe(back) < 0)
        return 1;
    int child = fork() == 0;
    int in = child ? there[0] : back[0], out = child ? back[1] : there[1];
    close(child ? there[1] : there[0]);
    close(child ? back[0] : back[1]);
    signal(SIGPIPE, SIG_IGN);
    while (clock() < CLOCKS_PER_SEC / 4 && write(out, &byte, 1) == 1 && read(in, &byte, 1) == 1)
        ;
    return 0;
}
"""


def test_programs_that_switch_very_often_are_sampled_by_timers_alone_and_it_is_said_once(
        run, compiled):
    if not default_timer().is_trap:
        pytest.skip("CPU-time timers tick alone: perf events are refused here")
    ended = run([compiled("pair", PAIR)], "--quiet")
    assert re.fullmatch(r"isoscope: pair \(\d+\): perf events would slow the program down: it switches very often: "
                        r"CPU-time timers give at most \d+ samples per CPU second instead of 1000\n",
                        ended.stderr)


# Two processes that hand a byte to and fro until a line is read; then the first one computes.
PAIR_THEN_CALM = r"""
#include <poll.h>
#include <unistd.h>
int main(void)
{
    int there[2], back[2];
    struct pollfd input = { .fd = 0, .events = POLLIN };
    char byte = 0;
    if (pipe(there) < 0 || pipe(back) < 0)
        return 1;
    if (fork() == 0) {
        close(there[1]);
        while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
            ;
        return 0;
    }
    while (poll(&input, 1, 0) == 0)
        for (int i = 0; i < 100; i++)
            if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
                return 1;
    close(there[1]);
    for (volatile unsigned long sum = 0;; sum++)
        ;
}
"""


def holds_perf_event(pid: int) -> bool:
    """In any of its threads' tables of descriptors."""
    links = []
    for link in Path(f"/proc/{pid}/task").glob("*/fd/*"):
        with suppress(FileNotFoundError):
            links.append(os.readlink(link))
    return "anon_inode:[perf_event]" in links


def test_who_switches_very_often_has_no_clock_until_it_is_calm(compiled):
    if not default_timer().is_trap:
        pytest.skip("ticks are no traps")
    program = [compiled("pair_then_calm", PAIR_THEN_CALM)]
    with service_of(program, stdin=subprocess.PIPE) as service, Client(service.uri) as client:
        parent = service.program()
        (child,) = until(lambda: children(parent), "the program's child")
        holders = [service_pid(service.process.pid), parent, child]
        until(lambda: not any(map(holds_perf_event, holders)), "the clock's end")
        service.process.stdin.write(b"\n")
        service.process.stdin.flush()
        until(lambda: any(map(holds_perf_event, holders)), "the clock's return")
        (isolate,) = (p.id for p in client.processes() if p.number == str(parent))

        def told():
            return client.call("getIsolate", isolateId=isolate)["_process"]

        until(lambda: told()["timer"] == "sigtrap", "the calm program's ticks")


def test_an_unknown_timer_is_refused(run):
    ended = run(["true"], "--timer", "sundial")
    assert ended.returncode == 2
    assert "'sundial' is not auto or cpu" in ended.stderr


def test_a_breakpoint_still_ends_a_program_that_does_not_handle_it(run, compiled):
    ended = run([compiled("traps", TRAPS)], "--quiet")
    assert ended.returncode == -signal.SIGTRAP


def test_a_program_that_handles_traps_gets_its_own_and_no_other(run, compiled):
    ended = run([compiled("traps", TRAPS), "handled"], "--quiet", "--period", "1000")
    assert (ended.stdout, ended.returncode) == ("10\n", 0)


# Handles SIGTRAP, and asks the kernel for more than it gives between two ticks.
ASKS_FOR_MUCH = r"""
#include <signal.h>
#include <stdlib.h>
#include <sys/random.h>
static volatile sig_atomic_t traps;
static void on_trap(int number) { traps += number == SIGTRAP; }
int main(void)
{
    size_t size = 32 << 20;
    char *bytes = malloc(size);
    signal(SIGTRAP, on_trap);
    for (int i = 0; i < 8; i++)
        if (getrandom(bytes, size, 0) != (ssize_t)size)
            return 1;
    return traps ? 2 : 0;
}
"""


def test_a_program_that_handles_traps_is_still_sampled_by_traps_and_loses_no_bytes(compiled):
    if not default_timer().is_trap:
        pytest.skip("ticks are no traps")
    with service_of([compiled("asks_for_much", ASKS_FOR_MUCH)], "--period", "200") as service:
        with Client(service.uri) as client:
            (process,) = until(client.processes, "the program")

            def told():
                return client.call("getIsolate", isolateId=process.id)["_process"]

            until(lambda: "exit" in told(), "the program's end")
            assert told()["exit"] == {"status": 0}
            assert told()["timer"] == "sigtrap"


# Go's runtime takes every signal for itself.
GO = r"""
package main

// static int answer(void) { return 42; }
import "C"

import (
	"os"
	"os/signal"
	"syscall"
)

var sum uint64

//go:noinline
func spinInGo(turns int) {
	for i := 0; i < turns; i++ {
		sum = sum*3 + 1
	}
}

func main() {
	traps := make(chan os.Signal, 1)
	signal.Notify(traps, syscall.SIGTRAP)
	for i := 0; i < int(C.answer())/4; i++ {
		spinInGo(50000000)
	}
	syscall.Kill(syscall.Getpid(), syscall.SIGTRAP)
	<-traps
}
"""


@pytest.fixture(scope="module")
def go_program(tmp_path_factory):
    go = shutil.which("go") or pytest.skip("needs go")
    folder = tmp_path_factory.mktemp("go")
    (folder / "main.go").write_text(GO)
    (folder / "go.mod").write_text("module takes_all\n")
    environment = {**os.environ, "CGO_ENABLED": "1", "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local",
                   "GOCACHE": str(folder / "cache"), "GOPATH": str(folder / "path")}
    subprocess.run([go, "build", "-o", "takes_all", "."], cwd=folder, env=environment, check=True)
    return str(folder / "takes_all")


@pytest.mark.parametrize("timer", ["auto", "cpu"])
def test_a_program_that_takes_every_signal_gets_its_own_and_is_sampled(go_program, timer):
    with service_of([go_program], "--timer", timer) as service, Client(service.uri) as client:
        (process,) = until(client.processes, "the program")

        def told():
            return client.call("getIsolate", isolateId=process.id)["_process"]

        until(lambda: "exit" in told(), "the program's end")
        assert told()["exit"] == {"status": 0}  # it waits for a SIGTRAP of its own
        reply = client.call("_getCpuSamples", isolateId=process.id)
    names = {function["id"]: function["name"] for function in reply["functions"]}
    leaves = [names[sample["stack"][0]["function"]["id"]] for sample in reply["samples"]]
    assert leaves.count("main.spinInGo") >= 20


# Nearly all of its time is the kernel's, in calls that a signal would cut short.
READS = r"""
#include <fcntl.h>
#include <time.h>
#include <unistd.h>
static char block[1 << 22];
int main(void)
{
    int zero = open("/dev/zero", O_RDONLY);
    while (clock() < 2 * CLOCKS_PER_SEC)
        if (read(zero, block, sizeof block) != sizeof block)
            return 1;
    return 0;
}
"""


@pytest.mark.parametrize("options", [(), ("--timer", "cpu"), ("--mode", "wall")])
def test_the_kernels_time_is_seen_and_no_read_comes_short(compiled, options):
    with profiled([compiled("reads", READS)], *options) as service:
        ((_, samples),) = service.profile()
        with Client(service.uri) as client:
            (process,) = client.processes()
            told = client.call("getIsolate", isolateId=process.id)["_process"]
    functions = Counter(sample.stack[0].name for sample in samples.samples)
    assert told["exit"] == {"status": 0}
    assert functions["read"] >= 0.9 * functions.total(), functions


@pytest.mark.parametrize("timer", ["auto", "cpu"])
def test_no_tick_kills_an_execd_program(run, compiled, timer):
    ended = run([compiled("execs", EXECS), "100"], "--quiet", "--period", "50", "--timer", timer)
    assert (ended.stdout, ended.returncode) == ("through\n", 0)


# As libc does for posix_spawn: all signals are blocked by a system call, a tick comes and waits, and
# SIGTRAP gets its default action, or a handler. Then it is unblocked, more ticks may come, and a
# trap of its own, or an exec.
TAKES_TRAPS = r"""
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static volatile sig_atomic_t traps;
static void on_trap(int number) { traps += number == SIGTRAP; }
static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}
static int tick_waits(void)
{
    double end = cpu_seconds() + 20;
    sigset_t waiting;
    do
        syscall(SYS_rt_sigpending, &waiting, 8); /* libc's shows no ticks */
    while (!sigismember(&waiting, SIGTRAP) && cpu_seconds() < end);
    return sigismember(&waiting, SIGTRAP);
}
static int take(const char *how)
{
    struct sigaction action = { .sa_handler = strcmp(how, "handler") ? SIG_DFL : on_trap }, before;
    if (!strcmp(how, "signal"))
        return signal(SIGTRAP, SIG_DFL) == SIG_DFL;
    if (!strcmp(how, "sysv_signal"))
        return sysv_signal(SIGTRAP, SIG_DFL) == SIG_DFL;
    return sigaction(SIGTRAP, &action, &before) == 0 && before.sa_handler == SIG_DFL;
}
static int child(char **words)
{
    sigset_t none;
    if (!tick_waits() || !take(words[1]))
        return 1;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (double end = cpu_seconds() + 0.05; cpu_seconds() < end;)
        ;
    if (traps)
        return 2;
    if (strcmp(words[2], "exec"))
        return raise(SIGTRAP) != 0 || traps != 1;
    return execl(words[0], words[0], (char *)NULL);
}
int main(int count, char **words)
{
    sigset_t all;
    int status;
    if (count == 1)
        return 0;
    sigfillset(&all);
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, NULL, 8);
    if (fork() == 0)
        return child(words);
    wait(&status);
    return printf("%d\n", WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status)) < 0;
}
"""


@pytest.mark.parametrize("how, last, status", [
    ("signal", "exec", 0), ("signal", "raise", -signal.SIGTRAP),
    ("sigaction", "exec", 0), ("sigaction", "raise", -signal.SIGTRAP),
    ("sysv_signal", "exec", 0), ("handler", "exec", 0), ("handler", "raise", 0),
])
def test_a_tick_that_waits_harms_no_program_that_takes_traps(run, compiled, how, last, status):
    if not default_timer().is_trap:
        pytest.skip("ticks are no traps")
    ended = run([compiled("takes_traps", TAKES_TRAPS), how, last], "--quiet")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, f"{status}\n", "")


# With ticks waiting (all signals are blocked by a system call), it comes to calls that open the mask.
OPENS_MASK = r"""
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static volatile sig_atomic_t alarms;
static void on_alarm(int number) { alarms += number == SIGALRM; }
static void compute(void)
{
    struct timespec now, end;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    end.tv_nsec += 20000000;
    if (end.tv_nsec >= 1000000000) {
        end.tv_nsec -= 1000000000;
        end.tv_sec++;
    }
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while (now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
}
int main(void)
{
    struct timespec wait = { 0, 5000000 };
    struct itimerval soon = { { 0, 0 }, { 0, 5000 } };
    struct epoll_event event;
    int epoll = epoll_create1(0), bad[4] = { 0 };
    sigset_t all, none;
    signal(SIGALRM, on_alarm);
    sigfillset(&all);
    sigemptyset(&none);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, 8);
    for (int i = 1; i <= 20; i++) {
        compute();
        bad[0] += ppoll(NULL, 0, &wait, &none) != 0;
        compute();
        bad[1] += pselect(0, NULL, NULL, NULL, &wait, &none) != 0;
        compute();
        bad[2] += epoll_pwait(epoll, &event, 1, 5, &none) != 0;
        compute();
        setitimer(ITIMER_REAL, &soon, NULL);
        sigsuspend(&none);
        bad[3] += alarms != i;
    }
    return printf("%d %d %d %d\n", bad[0], bad[1], bad[2], bad[3]) < 0;
}
"""


@pytest.mark.parametrize("options", [(), ("--timer", "cpu"), ("--mode", "wall")])
def test_no_tick_that_waits_ends_a_call_that_opens_the_mask(run, compiled, options):
    ended = run([compiled("opens_mask", OPENS_MASK)], *options, "--quiet")
    assert (ended.returncode, ended.stdout) == (0, "0 0 0 0\n")


# One thread blocks all signals while it computes, and one is as any other.
BLOCKS = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static void *spin(void *how)
{
    struct timespec now = { 0, 0 };
    sigset_t all, seen;
    sigfillset(&all);
    if (how && !strcmp(how, "libc")) {
        pthread_sigmask(SIG_BLOCK, &all, NULL);
        pthread_sigmask(SIG_BLOCK, NULL, &seen);
        if (sigismember(&seen, SIGTRAP) != 1 || sigismember(&seen, SIGURG) != 1)
            return "it does not see what it has set";
    } else if (how)
        syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, NULL, 8);
    while (now.tv_sec < 3) /* the sampler may rest for a second before it looks */
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return NULL;
}
int main(int count, char **words)
{
    pthread_t threads[2];
    void *wrong;
    pthread_create(&threads[0], NULL, spin, words[count - 1]);
    pthread_create(&threads[1], NULL, spin, NULL);
    pthread_join(threads[0], &wrong);
    return pthread_join(threads[1], NULL) || wrong;
}
"""


@pytest.mark.parametrize("options", [(), ("--timer", "cpu")])
@pytest.mark.parametrize("how, least_ms, most_ms", [("libc", 0, 200), ("kernel", 2800, 3400)])
def test_who_blocks_all_signals_is_sampled_or_told_as_not_sampled(run, compiled, how, least_ms,
                                                                  most_ms, options):
    ended = run([compiled("blocks", BLOCKS, "-pthread"), how], *options, "--stats", "--quiet")
    assert ended.returncode == 0
    (told,) = [line for line in ended.stderr.splitlines() if "not sampled" in line]
    assert least_ms <= float(told.split()[3]) <= most_ms, ended.stderr


def test_stats_tell_what_the_sampling_did(run):
    ended = run([workload("spin_two_to_one"), "0.3"], "--stats", "--quiet")
    assert ended.returncode == 0
    for word in ("timer", "ticks", "delivered", "they reach the thread's start", "upkeep"):
        assert word in ended.stderr


CHANGES = 5
LAG_MAX_US = 100_000
SLOWEST_US, FAST_US = 1_000_000, 1_000


def now_us(client: Client) -> int:
    return int(client.call("getVMTimelineMicros")["timestamp"])


def ticks_after(client: Client, after_us: int) -> dict[str, list[tuple[int, float]]]:
    """By thread: how long after, and the CPU time since the tick before, in microseconds. A tick that
    stands for several periods is told as often, with a part of it each time."""
    ticks: dict[str, Counter[int]] = defaultdict(Counter)
    for sample in client.call("_getCpuSamples", timestamp=0, count=0)["samples"]:
        lag_us = sample["timestamp"] - after_us
        if lag_us > 0 and sample["userTag"].startswith(("works-", "naps-")):
            ticks[sample["userTag"]][lag_us] += sample["cpuNanos"] / 1000
    return {tag: sorted(of_thread.items()) for tag, of_thread in ticks.items()}


def set_period(client: Client, period_us: int) -> int:
    """When it was asked for."""
    asked_us = now_us(client)
    client.call("setFlag", name="profile_period", value=str(period_us))
    return asked_us


WORKING = 4  # processors that works_and_naps would use


def slowness(by_thread: dict[str, list[tuple[int, float]]]) -> float:
    """How much longer the working threads wait for a processor than the workload alone would let
    them: the time from tick to tick, to the CPU time that is in it."""
    paces = [(ticks[-1][0] - ticks[0][0]) / sum(w for _, w in ticks[1:])
             for name, ticks in by_thread.items() if "works" in name]
    return max(1.0, median(paces) / max(1.0, WORKING / len(os.sched_getaffinity(0))))


@measured
def test_a_new_period_reaches_working_and_sleeping_threads_within_100_ms():
    quicker, slower = [], []
    exact = default_timer().is_trap  # else a tick waits for the kernel's, and for one while it runs
    options = ("--period", str(SLOWEST_US))
    with service_of([workload("works_and_naps"), "60"], *options) as service:
        with Client(service.uri) as client:
            until(client.processes, "the program")
            for _ in range(CHANGES):
                asked_us = set_period(client, FAST_US)
                until(
                    lambda: [len(t) >= 10 for t in ticks_after(client, asked_us).values()]
                    == [True] * 6,
                    "ten ticks of all six threads",
                )
                by_thread = ticks_after(client, asked_us)
                # The first tick stands for what came before; the others are a period of CPU time apart, but where
                # a virtual machine's host took the processor away: that time counts as the thread's.
                weights_us = [w for ticks in by_thread.values() for _, w in ticks[1:]]
                if exact:
                    assert sum(w <= 2 * FAST_US for w in weights_us) >= 0.85 * len(weights_us)
                waits = slowness(by_thread)
                first = max(t[0][0] for name, t in by_thread.items() if "works" in name)
                quicker.append(first / waits)

                asked_us = set_period(client, SLOWEST_US)
                until(lambda: now_us(client) > asked_us + 3 * LAG_MAX_US, "time to pass")
                late = [t[-1][0] for t in ticks_after(client, asked_us).values()]
                slower.append(max(late, default=0) / waits)
    # A thread may wait for a processor of a busy machine; the typical change shows the sampler's.
    assert median(quicker) <= LAG_MAX_US, quicker
    assert median(slower) <= LAG_MAX_US, slower
