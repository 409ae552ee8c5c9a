"""A debugger comes to a program that is sampled, and goes again."""

from __future__ import annotations

import subprocess

import pytest
from harness import Client, default_timer, measured, service_of, until, workload

# Attaches as strace does, without a stop; counts the traps that it is stopped for until none has
# come for a third of a second, and detaches.
TRACER = r"""
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/time.h>
#include <sys/wait.h>
static void on_alarm(int number) { (void)number; }
int main(int count, char **words)
{
    /* Again and again: one may come when nobody waits. */
    const struct itimerval third = { { 0, 333333 }, { 0, 333333 } }, none = { { 0, 0 }, { 0, 0 } };
    struct sigaction action = { .sa_handler = on_alarm };
    int pid = atoi(words[1]), status, traps = 0;
    if (count < 2 || sigaction(SIGALRM, &action, NULL) < 0 ||
        ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0)
        return 1;
    setitimer(ITIMER_REAL, &third, NULL);
    while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
        if (WSTOPSIG(status) == SIGTRAP && status >> 16 == 0) {
            traps++;
            setitimer(ITIMER_REAL, &third, NULL);
        }
        ptrace(PTRACE_CONT, pid, NULL, (void *)(long)(status >> 16 ? 0 : WSTOPSIG(status)));
    }
    setitimer(ITIMER_REAL, &none, NULL);
    ptrace(PTRACE_INTERRUPT, pid, NULL, NULL);
    do
        waitpid(pid, &status, 0);
    while (WIFSTOPPED(status) && status >> 16 != PTRACE_EVENT_STOP &&
           ptrace(PTRACE_CONT, pid, NULL, (void *)(long)WSTOPSIG(status)) == 0);
    ptrace(PTRACE_DETACH, pid, NULL, NULL);
    return printf("%d\n", traps) < 0;
}
"""

STRAY_TRAPS_MAX = 6  # one, on a quiet machine; as many as come in 40 ms without a look of our own


@measured  # our own look may come late
def test_a_tracer_that_does_not_stop_the_program_meets_hardly_a_tick(compiled):
    if not default_timer().is_trap:
        pytest.skip("ticks are no traps")
    tracer = compiled("tracer", TRACER)
    with service_of([workload("spin_two_to_one"), "60"]) as service:
        with Client(service.uri) as client:
            (process,) = until(client.processes, "the program")

            def ticks():
                told = client.call("getIsolate", isolateId=process.id)["_process"]
                return told["counters"]["ticks"]

            until(lambda: ticks() > 300, "ticks")
            traced = subprocess.run([tracer, str(service.program())], capture_output=True,
                                    text=True, timeout=60, check=True)
            before = ticks()
            until(lambda: ticks() > before + 100, "ticks, when the tracer has gone")
    assert int(traced.stdout) <= STRAY_TRAPS_MAX
