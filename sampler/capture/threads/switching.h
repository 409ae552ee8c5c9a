/*
 * switching.h - what switches cost, where each sets the user clock's timer and takes it back.
 *
 *   handler: switches and CPU time of each tick -> switching_add -> tend.h: leave or go on
 *
 * The kernel swaps the clock between threads of one process, and stops and starts it between any
 * others: a program that talks to another one over a pipe pays some 5 us at each switch (measured,
 * in a virtual machine). A process that would lose more than a twentieth of its time so is sampled
 * by CPU-time timers alone, which cost nothing at a switch, until it has been calm for a while.
 * Threads that end soon switch with those that make them and wait for them, all of one process:
 * those switches are not counted (0.3 ms each, one after the other: no dearer than without the
 * clock).
 *
 * Units      CPU time, ns. A window is some milliseconds of the process's.
 * Threads    switching_add: the handler, in any thread. switching_forgive_short_thread: any thread.
 *            switching_look: whoever tends the sampler (tend.h).
 */
#ifndef ISOSCOPE_SWITCHING_H
#define ISOSCOPE_SWITCHING_H

#include "../../feed/signal_safe.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    SWITCHING_WINDOW_NS = 64 * 1000 * 1000,
    SWITCHING_NS = 5000, /* of a switch */
    SWITCHING_PART = 20, /* the most of the time that may go there */
    /* Much more is not waited for; less is, for one tick may tell of what was long in coming. */
    SWITCHING_SOON_NS = 4 * 1000 * 1000,
    SWITCHING_SOON_PART = 4,
    SWITCHING_OF_SHORT_THREAD = 4, /* it starts, is waited for, ends, and its maker goes on */
    SWITCHING_LOOKS = 10, /* calm ones, before the clock is tried again; then twice as many */
    SWITCHING_LOOKS_MAX = 600,
};

struct switching {
    _Atomic uint64_t cpu_ns;  /* of the window */
    _Atomic int32_t switches; /* below 0: short threads have ended since the last tick */
    _Atomic uint32_t dear;    /* what the last window said */
    /* switching_look's. */
    bool left; /* the user clock is not used */
    uint32_t calm, wait;
};

/* In a thread that ends, and has used less CPU time than a period. */
static inline void switching_forgive_short_thread(struct switching *switching)
{
    atomic_fetch_sub_explicit(&switching->switches, SWITCHING_OF_SHORT_THREAD,
                              memory_order_relaxed);
}

/* True: it has just become too dear. */
SIGNAL_SAFE_INLINE bool switching_add(struct switching *switching, uint32_t switches,
                                      uint64_t cpu_ns)
{
    uint64_t window_ns =
        atomic_fetch_add_explicit(&switching->cpu_ns, cpu_ns, memory_order_relaxed) + cpu_ns;
    int32_t counted =
        atomic_fetch_add_explicit(&switching->switches, (int32_t)switches, memory_order_relaxed) +
        (int32_t)switches;
    uint64_t lost_ns = counted > 0 ? SWITCHING_NS * (uint64_t)counted : 0;
    bool soon = window_ns >= SWITCHING_SOON_NS && lost_ns > window_ns / SWITCHING_SOON_PART;
    bool dear = soon || lost_ns > window_ns / SWITCHING_PART;

    if (!soon && window_ns < SWITCHING_WINDOW_NS)
        return false;
    atomic_store_explicit(&switching->cpu_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&switching->switches, 0, memory_order_relaxed);
    return !atomic_exchange_explicit(&switching->dear, dear, memory_order_relaxed) && dear;
}

/* The handler has found it dear, and nothing was done about it yet. */
static inline bool switching_turned(const struct switching *switching)
{
    return !switching->left && atomic_load_explicit(&switching->dear, memory_order_relaxed);
}

/* Some ten times a second, and after switching_add said so. True: left has changed. */
static inline bool switching_look(struct switching *switching)
{
    bool dear = atomic_load_explicit(&switching->dear, memory_order_relaxed),
         left = switching->left;

    if (!switching->wait)
        switching->wait = SWITCHING_LOOKS;
    if (dear) {
        switching->left = true;
        switching->calm = 0;
    } else if (left && ++switching->calm >= switching->wait) {
        switching->left = false;
        switching->wait =
            switching->wait < SWITCHING_LOOKS_MAX ? 2 * switching->wait : SWITCHING_LOOKS_MAX;
    }
    return switching->left != left;
}

#endif
