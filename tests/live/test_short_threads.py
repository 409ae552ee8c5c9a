"""Threads that end before a tick of theirs is due, or in the middle of a period."""

from __future__ import annotations

import os
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


# Of a clone that libc's threads have no part in: no call of theirs tells of them, or of their end.
BARE_THREADS = """
#define _GNU_SOURCE
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static _Atomic int ended;
static long call(long number, long first, long second)
{
    __asm__ volatile("syscall" : "+a"(number) : "D"(first), "S"(second) : "rcx", "r11", "memory");
    return number;
}
static double cpu_ms(clockid_t clock)
{
    struct timespec used;
    call(SYS_clock_gettime, clock, (long)&used);
    return used.tv_sec * 1e3 + used.tv_nsec / 1e6;
}
static int live_shortly(void *unused)
{
    while (cpu_ms(CLOCK_THREAD_CPUTIME_ID) < 20)
        for (volatile int i = 0; i < 20000; i++) /* not in the kernel */
            ;
    ended++;
    return (int)call(SYS_exit, 0, 0);
}
int main(void)
{
    enum { BYTES = 1 << 18, FLAGS = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD };
    for (int i = 0; i < 20; i++) {
        char *stack = mmap(0, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (clone(live_shortly, stack + BYTES, FLAGS, 0) < 0)
            return 1;
        while (ended <= i)
            usleep(1000);
    }
    printf("cpu_ms %.1f\\n", cpu_ms(CLOCK_PROCESS_CPUTIME_ID));
    return 0;
}
"""


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="calls the kernel as x86-64 does")
@pytest.mark.parametrize("timer", ["auto", "cpu"])
@measured
def test_all_time_of_bare_threads_is_in_samples_or_told_as_not_sampled(compiled, timer):
    """With perf most of it is in samples. CPU-time timers are set for threads that were seen, which
    these are not before they end."""
    program = compiled("bare", BARE_THREADS)
    with profiled([program], "--timer", timer, stdout=PIPE) as service:
        used_ms = float(service.process.stdout.readline().split()[1])
        service.process.stdout.close()
        with Client(service.uri) as client:
            (process,) = client.processes()
            reply = client.call("_getCpuSamples", isolateId=process.id)
    sampled_ms = sum(sample["cpuNanos"] for sample in reply["samples"]) / 1e6
    told_ms = sampled_ms + reply["_counters"]["not_sampled_ns"] / 1e6
    assert 0.95 * used_ms <= told_ms <= 1.1 * used_ms + 50
    if timer == "auto" and default_timer().is_trap:
        assert sampled_ms >= 0.8 * used_ms
