/*
 * throttle.h - no thread may spend its time on being sampled.
 *
 *   handler -> what its ticks cost (struct throttle)
 *   tend.h -> throttle_look, some ten times a second -> fewer samples of that thread
 *
 * Where a stack is hard to walk, the handler may take half of the thread's CPU time. Then the
 * handler leaves ticks out, twice as many each time; when all has been well for a while, half as
 * many.
 *
 * Units      CPU time of the sampled thread, in ns.
 * Threads    struct throttle: the handler writes; whoever tends the sampler (tend.h) reads and
 *            clears, and alone writes shift.
 */
#ifndef ISOSCOPE_THROTTLE_H
#define ISOSCOPE_THROTTLE_H

#include "../../feed/signal_safe.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct throttle {
    _Atomic uint32_t ticks;
    _Atomic uint64_t spent_ns, handler_ns; /* by the thread; and of that, by the handler */
    _Atomic uint32_t shift;                /* the period is 2^shift as long as asked */
    uint32_t calm_looks;                   /* throttle_look's */
};

enum {
    THROTTLE_SHIFT_MAX = 10,
    /* Half of the shortest period is more than twice that; most handlers need a tenth. */
    THROTTLE_WALL_NS_MAX = 10000,
};

/* It took so long by the wall clock, which costs no system call but goes on while the thread waits
 * for a processor (100 ms, where there are eight threads for each). True: ask its CPU clock. */
SIGNAL_SAFE_INLINE bool throttle_is_doubtful(uint64_t wall_ns)
{
    return wall_ns > THROTTLE_WALL_NS_MAX;
}

/* A tick ends. since_ns: since the one before; handler_ns: it took so long of the thread's time. */
SIGNAL_SAFE_INLINE void throttle_tick(struct throttle *throttle, uint64_t since_ns,
                                      uint64_t handler_ns)
{
    atomic_fetch_add_explicit(&throttle->ticks, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&throttle->spent_ns, since_ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&throttle->handler_ns, handler_ns, memory_order_relaxed);
}

/* Judges what came since the last look. */
SIGNAL_SAFE void throttle_look(struct throttle *throttle);

#endif
