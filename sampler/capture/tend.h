/*
 * tend.h - what the sampler does besides taking samples: it follows the service's wishes, looks
 * what code is mapped, and keeps house.
 *
 *   tick -> tend_at_tick, if something is due -> threads, modules, signals
 *
 * No thread of ours runs in the program. The next tick does what is due, of whichever thread it is;
 * where nothing ticks, nothing is due. One at a time does so, under the sampler's lock; who finds
 * it taken goes on, for the next tick comes soon.
 *
 * Signals    What is marked is SIGNAL_SAFE; the handler, or a thread that starts the sampler.
 * Errors     None: what could not be done is due again.
 */
#ifndef ISOSCOPE_TEND_H
#define ISOSCOPE_TEND_H

#include "../feed/signal_safe.h"

#include <stdbool.h>
#include <stdint.h>

/* Tending's own memory; zeros at first, and in a forked child. */
struct tend {
    uint32_t changes_seen;      /* of the service's wishes and tables */
    _Atomic int64_t house_us;   /* when house is kept next */
    _Atomic int64_t modules_us; /* not before, what is mapped is looked at again */
    int64_t again_us;           /* not before, another service is looked for */
    int64_t unknown_wait_us;    /* between two looks for the sake of unknown code */
    _Atomic uint32_t unknown;   /* a handler met code it does not know */
};

/* At a start, and in a forked child, before the first tick: what the service wants. */
SIGNAL_SAFE void tend_begin(void);
/* While the sampler runs, on a stack of ours (tick_stack.h). */
SIGNAL_SAFE void tend_at_tick(void);
/* The handler has met code that is not known. True: what is mapped was looked at, and has changed.
 */
SIGNAL_SAFE bool tend_unknown_code(void);

#endif
