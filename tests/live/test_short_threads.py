"""Threads that end before a tick of theirs is due, or in the middle of a period."""

from __future__ import annotations

from subprocess import PIPE

import pytest
from harness import Client, default_timer, measured, profiled

SHORT_THREADS = """
#include <pthread.h>
#include <stdio.h>
#include <time.h>
static double cpu_ms(clockid_t clock)
{
    struct timespec used;
    clock_gettime(clock, &used);
    return used.tv_sec * 1e3 + used.tv_nsec / 1e6;
}
static void *live_shortly(void *unused)
{
    while (cpu_ms(CLOCK_THREAD_CPUTIME_ID) < LIVES_MS)
        ;
    return unused;
}
int main(void)
{
    for (int round = 0; round < 5; round++) {
        static pthread_t threads[100];
        for (int i = 0; i < 100; i++)
            pthread_create(&threads[i], 0, live_shortly, 0);
        for (int i = 0; i < 100; i++)
            pthread_join(threads[i], 0);
    }
    printf("cpu_ms %.1f\\n", cpu_ms(CLOCK_PROCESS_CPUTIME_ID));
    return 0;
}
"""


# 0.3 ms: most end between clone and the first tick that they were due.
@pytest.mark.parametrize("lives_ms", [1.9, 0.3])
@pytest.mark.parametrize("timer", ["auto", "cpu"])
@measured
def test_all_time_of_short_threads_is_in_samples_or_told_as_not_sampled(compiled, timer, lives_ms):
    program = compiled("short", SHORT_THREADS, "-pthread", f"-DLIVES_MS={lives_ms}")
    with profiled([program], "--timer", timer, stdout=PIPE) as service:
        used_ms = float(service.process.stdout.readline().split()[1])
        service.process.stdout.close()
        with Client(service.uri) as client:
            (process,) = client.processes()
            reply = client.call("_getCpuSamples", isolateId=process.id)
    sampled_ms = sum(sample["cpuNanos"] for sample in reply["samples"]) / 1e6
    told_ms = sampled_ms + reply["_counters"]["not_sampled_ns"] / 1e6
    # Told, and not seen by the program itself: its own start and end.
    assert 0.95 * used_ms <= told_ms <= 1.1 * used_ms + 50
    if lives_ms > 1 and timer == "auto" and default_timer().is_trap:
        assert sampled_ms >= 0.8 * used_ms
