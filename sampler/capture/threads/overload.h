/*
 * overload.h - no thread may spend its time on being sampled.
 *
 *   handler -> what its ticks cost, and whether they come late (struct load)
 *   sampler's thread -> overload_look, some ten times a second -> a longer period for that thread
 *
 * Three things make ticks dear. Their handler, where the stack is hard to walk: it may take half of
 * the thread's CPU time. The kernel, where many signals are queued: it looks for a tick behind all
 * of them, and when that takes a period the thread gets nowhere. And a thread that goes on and off
 * processors all the time: each time its timer is set and taken back, which a virtual machine pays
 * dearly for unless the kernel's own tick comes before (switch_cost.h). Then the thread's period
 * doubles; when all has been well for a while, it halves.
 *
 * Units      CPU time of the sampled thread, in ns.
 * Threads    struct load: the handler writes, the sampler's thread reads and clears. slowed: the
 *            sampler's thread alone writes it.
 */
#ifndef ISOSCOPE_OVERLOAD_H
#define ISOSCOPE_OVERLOAD_H

#include "../../feed/signal_safe.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct load {
    _Atomic uint32_t ticks, late;
    _Atomic uint64_t spent_ns, handler_ns; /* by the thread; and of that, by the handler */
    _Atomic uint32_t slowed;               /* the period is 2^slowed as long as asked */
    /* Now and then: switches off a processor since it began, and its CPU time then. */
    _Atomic uint32_t switches;
    _Atomic uint64_t switches_at_ns;
    uint32_t until_switches; /* ticks; the handler's */
    /* The sampler's thread's. */
    uint32_t calm_looks;
    uint32_t switches_seen;
    uint64_t switches_seen_ns;
    uint32_t switches_a_s;   /* of CPU time */
    uint32_t switches_looks; /* since they were told */
};

enum {
    OVERLOAD_SLOWED_MAX = 10,
    /* Half of the shortest period is more than twice that; most handlers need a tenth. */
    OVERLOAD_WALL_NS_MAX = 10000,
    OVERLOAD_SWITCH_TICKS = 16, /* between two times that switches are counted */
};

/* A tick begins. since_ns: since the tick before. Returns the ticks left out for it. */
SIGNAL_SAFE_INLINE uint32_t overload_tick(struct load *load, uint64_t since_ns, uint32_t period_us)
{
    uint32_t slowed = atomic_load_explicit(&load->slowed, memory_order_relaxed);
    uint64_t late_ns = ((uint64_t)period_us << slowed) * 1050;

    atomic_fetch_add_explicit(&load->ticks, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&load->spent_ns, since_ns, memory_order_relaxed);
    if (since_ns > late_ns)
        atomic_fetch_add_explicit(&load->late, 1, memory_order_relaxed);
    return (1u << slowed) - 1;
}

/* True, for one tick of many: tell overload_switches. */
SIGNAL_SAFE_INLINE bool overload_wants_switches(struct load *load)
{
    if (load->until_switches--)
        return false;
    load->until_switches = OVERLOAD_SWITCH_TICKS - 1;
    return true;
}

SIGNAL_SAFE_INLINE void overload_switches(struct load *load, uint32_t switches, uint64_t cpu_ns)
{
    atomic_store_explicit(&load->switches, switches, memory_order_relaxed);
    atomic_store_explicit(&load->switches_at_ns, cpu_ns, memory_order_release);
}

/* It took so long by the wall clock, which costs no system call but goes on while the thread waits
 * for a processor (100 ms, where there are eight threads for each). True: ask its CPU clock. */
SIGNAL_SAFE_INLINE bool overload_is_doubtful(uint64_t wall_ns)
{
    return wall_ns > OVERLOAD_WALL_NS_MAX;
}

/* It ends, and took so long of the thread's own time. */
SIGNAL_SAFE_INLINE void overload_tick_done(struct load *load, uint64_t handler_ns)
{
    atomic_fetch_add_explicit(&load->handler_ns, handler_ns, memory_order_relaxed);
}

/* Half of the ticks came late, or did before. Long system calls make them late too, so this asks
 * for the number of queued signals. */
bool overload_suspected(const struct load *load);
/* What the process's threads have in common, at a look. */
struct overload_costs {
    uint32_t period_us; /* as asked */
    uint32_t queued;    /* signals waiting in this process, or more; 0: nothing was suspected */
    uint32_t switch_ns; /* that setting a timer takes at each switch; 0: not this timer */
    uint32_t tick_us;   /* the kernel's; a timer that would fire after it costs nothing */
};

/* Judges what came since the last look. True: slowed has changed. */
bool overload_look(struct load *load, const struct overload_costs *costs);

#endif
