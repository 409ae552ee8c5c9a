/*
 * tracer.h - a debugger has come, and each tick would stop the program for it.
 *
 *   handler: tracer_suspect -> sampler's thread: tracer_look -> the user clock is stopped
 *
 * The service looks for one too (held_clock.h), and sees in time one that stops the program when it
 * comes. One that does not, as strace, meets every tick until then. A thread that was stopped at
 * its tick has left its processor since the tick before: that is a reason to look at once. So do
 * threads that have waited for something, so the looks are few.
 *
 * Threads    tracer_suspect: the handler, in any thread. The rest: the sampler's thread.
 */
#ifndef ISOSCOPE_TRACER_H
#define ISOSCOPE_TRACER_H

#include "../../feed/signal_safe.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    TRACER_LOOKS = 3
}; /* at the most, between two times that the sampler's thread keeps house */

struct tracer {
    _Atomic uint32_t asked;
    _Atomic int32_t looks_left;
    bool attached;
};

/* True: the sampler's thread is to look. */
SIGNAL_SAFE_INLINE bool tracer_suspect(struct tracer *tracer)
{
    if (atomic_load_explicit(&tracer->looks_left, memory_order_relaxed) <= 0)
        return false;
    atomic_fetch_sub_explicit(&tracer->looks_left, 1, memory_order_relaxed);
    atomic_store_explicit(&tracer->asked, 1, memory_order_release);
    return true;
}

/* By what the kernel says of this process; without /proc: no. */
bool tracer_is_attached(void);
/* Looks, if the handler has asked for it. */
void tracer_look(struct tracer *tracer);
/* When the sampler's thread keeps house: one that is known may have gone, and there may be looks
 * again. */
void tracer_keep(struct tracer *tracer);

#endif
