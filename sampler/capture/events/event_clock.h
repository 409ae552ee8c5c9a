/*
 * event_clock.h - CLOCK_MONOTONIC in nanoseconds, in fewer of them than libc needs.
 *
 * Where the processor's counter is invariant and the kernel keeps its time by it, a thread counts on
 * from its last look at the kernel's clock. It looks again after a millisecond, and takes the
 * counter's speed from the time between two looks: so it is off by less than a microsecond, however
 * the kernel steers its clock. Elsewhere, and until the speed is known, each look is the kernel's.
 *
 * Threads    A clock is its thread's. Time does not go back in it.
 * Signals    SIGNAL_SAFE. What comes in between may make the next reading a look, no more.
 */
#ifndef ISOSCOPE_EVENT_CLOCK_H
#define ISOSCOPE_EVENT_CLOCK_H

#include "../system/clock.h"

#include "../../feed/signal_safe.h"

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#define EVENT_CLOCK_HAS_COUNTER 1
#define EVENT_CLOCK_COUNTER()   __rdtsc()
#else
#define EVENT_CLOCK_HAS_COUNTER 0
#define EVENT_CLOCK_COUNTER()   UINT64_C(0)
#endif

/* Zeros at first. */
struct event_clock {
    uint64_t looked_at, looked_ns; /* the counter, and the time, at the last look */
    uint64_t span;                 /* of the counter, until the next look; 0: each is one */
    uint64_t speed;                /* nanoseconds a count, << 32 */
    uint64_t last_ns;              /* given out */
};

/* The kernel's clock, and what follows from it for the next millisecond. */
SIGNAL_SAFE uint64_t event_clock_look(struct event_clock *clock);

/* False: a look is due. */
SIGNAL_SAFE_INLINE bool event_clock_count(struct event_clock *clock, uint64_t *ns)
{
    uint64_t counts;

    /* To read the counter may be forbidden by now. */
    if (__builtin_expect(atomic_load_explicit(&clock_asks_kernel, memory_order_relaxed), 0) ||
        !clock->span)
        return false;
    counts = EVENT_CLOCK_COUNTER() - clock->looked_at;
    if (__builtin_expect(counts >= clock->span, 0))
        return false;
    *ns = clock->looked_ns + (counts * clock->speed >> 32);
    if (__builtin_expect(*ns < clock->last_ns, 0))
        *ns = clock->last_ns;
    else
        clock->last_ns = *ns;
    return true;
}

SIGNAL_SAFE_INLINE uint64_t event_clock_ns(struct event_clock *clock)
{
    uint64_t ns;

    return event_clock_count(clock, &ns) ? ns : event_clock_look(clock);
}

#endif
