/*
 * clock.h - the two clocks of a sample. libc's clock_gettime is safe in a handler (POSIX) and
 * touches errno only when it fails, which these clocks do not.
 */
#ifndef ISOSCOPE_CLOCK_H
#define ISOSCOPE_CLOCK_H

#include "../../feed/signal_safe.h"

#include <stdint.h>
#include <time.h>

SIGNAL_SAFE_INLINE uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

SIGNAL_SAFE_INLINE int64_t clock_now_us(void)
{
    return (int64_t)(clock_ns(CLOCK_MONOTONIC) / 1000);
}

SIGNAL_SAFE_INLINE uint64_t clock_thread_cpu_ns(void)
{
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

#endif
