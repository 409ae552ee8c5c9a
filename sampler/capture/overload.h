/*
 * overload.h - no thread may spend its time on being sampled.
 *
 *   handler -> what its ticks cost, and whether the thread came on between them (struct load)
 *   sampler's thread -> overload_look, some ten times a second -> a longer period for that thread
 *
 * A tick is futile when the thread's registers are as they were at the one before although more
 * than a period has passed: the kernel spent it on delivering ticks (it looks for them behind all
 * signals that are queued), and the program nothing. When half of the ticks are futile, or their
 * handler takes half of the thread's CPU time, its period doubles; when all is well for a while, it
 * halves.
 *
 * Units      CPU time of the sampled thread, in ns.
 * Threads    struct load: the handler writes, the sampler's thread reads and clears. slowed: the
 *            sampler's thread alone writes it.
 */
#ifndef ISOSCOPE_OVERLOAD_H
#define ISOSCOPE_OVERLOAD_H

#include "../feed/signal_safe.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct load {
    _Atomic uint32_t ticks, futile;
    _Atomic uint64_t spent_ns, handler_ns; /* by the thread; and of that, by the handler */
    uint64_t registers;                    /* the handler's: a hash of them at the last tick */
    _Atomic uint32_t slowed;               /* the period is 2^slowed as long as asked */
    uint32_t calm_looks;                   /* the sampler's thread's */
};

enum { OVERLOAD_SLOWED_MAX = 10 };

/* A tick begins. since_ns: since the tick before. Returns the ticks left out for it. */
SIGNAL_SAFE_INLINE uint32_t overload_tick(struct load *load, uint64_t registers, uint64_t since_ns,
                                          uint32_t period_us)
{
    uint32_t slowed = atomic_load_explicit(&load->slowed, memory_order_relaxed);
    uint64_t late_ns = ((uint64_t)period_us << slowed) * 1200;

    atomic_fetch_add_explicit(&load->ticks, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&load->spent_ns, since_ns, memory_order_relaxed);
    if (registers == load->registers && since_ns > late_ns)
        atomic_fetch_add_explicit(&load->futile, 1, memory_order_relaxed);
    load->registers = registers;
    return (1u << slowed) - 1;
}

/* It ends, and took so long. */
SIGNAL_SAFE_INLINE void overload_tick_done(struct load *load, uint64_t handler_ns)
{
    atomic_fetch_add_explicit(&load->handler_ns, handler_ns, memory_order_relaxed);
}

/* Judges what came since the last look. True: slowed has changed. */
bool overload_look(struct load *load);

#endif
