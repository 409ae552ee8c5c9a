/*
 * cpu_times.h - the calling thread's user and system time.
 *
 * The kernel shares out its CPU clock by its own ticks: the sum is exact, the parts are right over
 * some of them. Neither ever goes back.
 */
#ifndef ISOSCOPE_CPU_TIMES_H
#define ISOSCOPE_CPU_TIMES_H

#include "../../feed/sys.h"
#include "clock.h"

#include <stdint.h>
#include <sys/resource.h>

struct cpu_times {
    uint64_t user_ns, system_ns;
};

SIGNAL_SAFE_INLINE uint64_t cpu_times_ns(const struct timeval *time)
{
    return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_usec * 1000u;
}

/* How often a thread has left a processor: to wait for something, or because it had to. */
struct cpu_switches {
    uint32_t waits, others;
};

/* Returns the sum, by the CPU clock. */
SIGNAL_SAFE_INLINE uint64_t cpu_times_read(struct cpu_times *out, struct cpu_switches *switches)
{
    uint64_t cpu_ns = clock_thread_cpu_ns(); /* first: it brings up to date what getrusage says */
    struct rusage usage;

    *out = (struct cpu_times){ cpu_ns, 0 };
    *switches = (struct cpu_switches){ 0, 0 };
    if (sys_call2(SYS_getrusage, RUSAGE_THREAD, &usage) < 0)
        return cpu_ns;
    *out = (struct cpu_times){ cpu_times_ns(&usage.ru_utime), cpu_times_ns(&usage.ru_stime) };
    *switches = (struct cpu_switches){ (uint32_t)usage.ru_nvcsw, (uint32_t)usage.ru_nivcsw };
    return cpu_ns;
}

#endif
