/*
 * timer.h - one thread's sampling timer: it counts the thread's CPU time and signals that thread.
 *
 *   timer_open -> (kernel) -> the tick signal, in the thread itself
 *
 * Units      period_us: CPU time between two ticks.
 * Threads    The sampler's thread only: descriptors live in its own table (sampler.h).
 * Errors     timer_open: 0, or -errno of the last way tried.
 * Source     perf_event_open(2), timer_create(2); thread clock ids: the kernel's posix-timers.h.
 */
#ifndef ISOSCOPE_TIMER_H
#define ISOSCOPE_TIMER_H

#include "../feed/layout.h"

#include <stdbool.h>
#include <stdint.h>

struct timer {
    uint8_t kind; /* feed_timer */
    int id;       /* perf: the descriptor; CPU clock: the kernel's timer id */
};

/* What this process may use; learned at the first timer. */
struct timer_rights {
    bool no_perf;        /* perf_event_open was refused for good */
    bool exclude_kernel; /* the kernel grants ticks in user mode only */
};

/* Opens a stopped timer for a thread. token comes back in the signal of a CPU clock timer
 * (si_value); a perf event is known by its descriptor (si_fd). */
int timer_open(struct timer *out, struct timer_rights *rights, int tid, int signal_number,
               uint32_t token);
/* period_us 0 stops it. */
void timer_set(const struct timer *timer, uint32_t period_us);
void timer_close(struct timer *timer);

/* The CPU clock of any thread of this process, as a clockid_t; the kernel's encoding. */
int timer_thread_clock(int tid);

/* The shortest true period of a kind of timer: the CPU clock's is the kernel's tick. */
uint32_t timer_floor_us(enum feed_timer kind);

#endif
