/*
 * tracer.h - a debugger has come, and each tick would stop the program for it.
 *
 *   handler: tracer_suspect -> the service looks (profile/outside/held_clock.h) -> the user clock
 *   is
 * stopped
 *
 * The service looks for one by itself, too, and sees in time one that stops the program when it
 * comes. One that does not, as strace, meets every tick until then. A thread that was stopped at
 * its tick has left its processor since the tick before: that is a reason to look at once. So do
 * threads that have waited for something, so the looks are few.
 *
 * Threads    tracer_suspect: the handler, in any thread. tracer_keep: whoever tends the sampler.
 */
#ifndef ISOSCOPE_TRACER_H
#define ISOSCOPE_TRACER_H

#include "../../feed/signal_safe.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { TRACER_LOOKS = 3 }; /* at the most, between two times that house is kept */

struct tracer {
    _Atomic int32_t looks_left;
};

/* True: the service is to look. */
SIGNAL_SAFE_INLINE bool tracer_suspect(struct tracer *tracer)
{
    return atomic_load_explicit(&tracer->looks_left, memory_order_relaxed) > 0 &&
           atomic_fetch_sub_explicit(&tracer->looks_left, 1, memory_order_relaxed) > 0;
}

/* There may be looks again. */
SIGNAL_SAFE_INLINE void tracer_keep(struct tracer *tracer)
{
    atomic_store_explicit(&tracer->looks_left, TRACER_LOOKS, memory_order_relaxed);
}

/* By what the kernel says of this process; without /proc: no. One that is expected is none, and so
 * is one that has never stopped the program: the service finds that one. */
bool tracer_is_attached(void);
/* The one that is attached now is about to leave: it has loaded the sampler. One at a time. */
void tracer_expect(bool expected);

#endif
