/*
 * timer.h - one thread's sampling timer: it counts the thread's CPU time and signals that thread.
 *
 *   timer_open -> (kernel) -> the tick signal, in the thread itself
 *
 * In this order, unless a wish says otherwise: a perf event that traps (half the cost of a signal),
 * and counts in the kernel where it may; one delivered as a signal; the thread's CPU clock, at most
 * once a kernel tick; and on request only, the interrupter. A trap that falls into an exec would
 * kill the new program: exec_guard.h.
 *
 * Units      period_us: CPU time between two ticks.
 * Threads    The sampler's thread only: descriptors live in its own table (sampler.h).
 * Errors     timer_open: 0, or -errno of the last way tried.
 * Source     perf_event_open(2), timer_create(2); thread clock ids: the kernel's posix-timers.h.
 */
#ifndef ISOSCOPE_TIMER_H
#define ISOSCOPE_TIMER_H

#include "../../feed/layout.h"
#include "../../feed/signal_safe.h"

#include <stdbool.h>
#include <stdint.h>

struct timer {
    uint8_t kind; /* feed_timer */
    int id;       /* perf: the descriptor; CPU clock: the kernel's timer id; interrupter: the tid */
    uint32_t perf_us; /* the period that the kernel has, if it counts now or not */
};

/* What this process wants and may use; the rest is learned at the first timer. */
struct timer_rights {
    uint8_t wish;        /* feed_timer_wish */
    bool trap;           /* SIGTRAP is ours */
    bool trap_in_kernel; /* and may wait there: tick_signal_trap_in_kernel */
    bool no_perf;        /* perf_event_open was refused for good */
    bool exclude_kernel; /* the kernel grants ticks in user mode only */
    bool kernel_traps;   /* there are traps that count in the kernel, of threads older than that */
};

/* Opens a stopped timer for a thread. slot comes back in the signal of a CPU clock timer (si_value)
 * and in a trap (timer_slot_of_trap); a perf event that signals is known by its descriptor (si_fd).
 */
int timer_open(struct timer *out, struct timer_rights *rights, int tid, int signal_number,
               uint32_t slot);
/* period_us 0 stops it. With the period of before it goes on where it was stopped: a thread that is
 * stopped time and again gets its ticks all the same. */
void timer_set(struct timer *timer, uint32_t period_us);
/* As timer_set, but the first tick comes after first_us. True: they all do, until timer_set is
 * called. */
bool timer_start(struct timer *timer, uint32_t first_us, uint32_t period_us);
void timer_close(struct timer *timer);

/* CPU time of any thread of this process; 0 when it has gone. */
uint64_t timer_thread_cpu_ns(int tid);
/* The interrupter's tick: the signal, with the slot as its value. */
void timer_interrupt(int tid, int signal_number, uint32_t slot);
/* The slot of a trap that is a tick; 0: another trap. */
SIGNAL_SAFE uint32_t timer_slot_of_trap(const void *siginfo);

/* The shortest true period of a kind of timer: the CPU clock's is the kernel's tick. */
uint32_t timer_floor_us(enum feed_timer kind);

#endif
