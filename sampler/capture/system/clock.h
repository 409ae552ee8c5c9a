/*
 * clock.h - the two clocks of a sample. libc's clock_gettime is safe in a handler (POSIX) and
 * touches errno only when it fails, which these clocks do not.
 *
 * On x86 it reads the processor's counter, which ends in SIGSEGV in a thread that has forbidden
 * that (prctl PR_SET_TSC). From then on the kernel is asked, for all threads. (A program that is
 * exec'd with the counter forbidden ends in the loader, also without us.)
 */
#ifndef ISOSCOPE_CLOCK_H
#define ISOSCOPE_CLOCK_H

#include "../../feed/signal_safe.h"
#include "../../feed/sys.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

extern _Atomic bool clock_asks_kernel;

/* The program is about to forbid the counter. */
void clock_ask_kernel(void);

SIGNAL_SAFE_INLINE uint64_t clock_to_ns(const struct timespec *time)
{
    return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

/* What is asked once: libc's first answer touches pages that a short program does not need, which
 * takes twenty times as long. CPU time is the kernel's to tell anyhow. */
SIGNAL_SAFE_INLINE uint64_t clock_kernel_ns(clockid_t clock)
{
    struct timespec now;

    sys_call2(SYS_clock_gettime, clock, &now);
    return clock_to_ns(&now);
}

SIGNAL_SAFE_INLINE uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;

    if (__builtin_expect(atomic_load_explicit(&clock_asks_kernel, memory_order_relaxed), false))
        return clock_kernel_ns(clock);
    clock_gettime(clock, &now);
    return clock_to_ns(&now);
}

SIGNAL_SAFE_INLINE int64_t clock_kernel_us(void)
{
    return (int64_t)(clock_kernel_ns(CLOCK_MONOTONIC) / 1000);
}

SIGNAL_SAFE_INLINE int64_t clock_now_us(void)
{
    return (int64_t)(clock_ns(CLOCK_MONOTONIC) / 1000);
}

SIGNAL_SAFE_INLINE uint64_t clock_thread_cpu_ns(void)
{
    return clock_kernel_ns(CLOCK_THREAD_CPUTIME_ID);
}

#endif
