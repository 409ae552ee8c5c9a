"""Which timer ticks, and what it must not break."""

from __future__ import annotations

import signal

import pytest
from harness import default_timer, until, workload

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


# Two processes that wake each other: each gets the processor some hundred times in a millisecond.
PING_PONG = r"""
#include <unistd.h>
int main(void)
{
    int there[2], back[2];
    char byte = 0;
    if (pipe(there) < 0 || pipe(back) < 0)
        return 1;
    if (fork() == 0) {
        close(there[1]);
        while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
            ;
        return 0;
    }
    while (write(there[1], &byte, 1) == 1 && read(back[0], &byte, 1) == 1)
        ;
}
"""


@pytest.mark.parametrize("asked, chosen", [
    ("signal", "perf"), ("sigtrap", "sigtrap"), ("cpu", "cpu-timer"),
    ("interrupter", "interrupter"),
])
def test_the_asked_timer_ticks(start, asked, chosen):
    running = start([workload("spin_two_to_one"), "0.5"], "--timer", asked, "--keep")
    client = running.connect()
    isolate = until(lambda: client.rpc("getVM")["isolates"], "the program")[0]["id"]

    def process():
        return client.rpc("getIsolate", isolateId=isolate)["_process"]

    until(lambda: not process()["live"], "the program's end")
    assert process()["timer"] == (
        chosen if default_timer().is_perf or asked == "interrupter" else "cpu-timer")
    assert process()["counters"]["stored"] >= 50
    assert process()["counters"]["end_root"] == process()["counters"]["delivered"]


def test_a_thread_that_switches_all_the_time_ticks_by_its_cpu_clock(start, compiled):
    """perf's timer would cost it more than its own work. The kernel merges what comes more often
    than its own tick, and perf's timers merge nothing."""
    running = start([compiled("ping_pong", PING_PONG)], "--period", "500")
    client = running.connect()

    def merged():
        isolates = client.rpc("getVM")["isolates"]
        counters = [client.rpc("getIsolate", isolateId=i["id"])["_process"]["counters"]
                    for i in isolates]
        return sum(c["lost_overrun"] >= 20 for c in counters) == 2

    until(merged, "both with their CPU clocks")


def test_an_unknown_timer_is_refused(run):
    ended = run(["true"], "--timer", "sundial")
    assert ended.returncode == 2
    assert "sundial" in ended.stderr and "interrupter" in ended.stderr


def test_a_breakpoint_still_ends_a_program_that_does_not_handle_it(run, compiled):
    ended = run([compiled("traps", TRAPS)], "--timer", "sigtrap", "--quiet")
    assert ended.returncode == -signal.SIGTRAP


def test_a_program_that_handles_traps_gets_its_own_and_no_other(run, compiled):
    ended = run([compiled("traps", TRAPS), "handled"], "--timer", "sigtrap", "--quiet",
                "--period", "1000")
    assert ended.returncode == 0
    # A tick may fall between the program's signal() and our noticing it: some, for a tenth of a second.
    assert 10 <= int(ended.stdout) <= 10 + 200


@pytest.mark.parametrize("timer", ["signal", "sigtrap", "cpu", "interrupter"])
def test_no_tick_kills_an_execd_program(run, compiled, timer):
    ended = run([compiled("execs", EXECS), "100"], "--quiet", "--period", "50", "--timer", timer)
    assert (ended.stdout, ended.returncode) == ("through\n", 0)


def test_stats_tell_what_the_sampling_did(run):
    ended = run([workload("spin_two_to_one"), "0.3"], "--stats", "--quiet")
    assert ended.returncode == 0
    for word in ("ticks", "delivered", "the thread's first frame was reached", "own thread", "perf"):
        assert word in ended.stderr
