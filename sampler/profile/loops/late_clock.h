/*
 * late_clock.h - what a thread did since a moment: ran, waited for a processor, slept.
 *
 *   schedstat, and whether it was seen awake -> late_clock_look -> running_ns, runnable_ns, sleeping_ns
 *
 * The kernel adds to a running thread's clock in its tick, and to the time that one waited when that is over. What an
 * awake thread did since, up to a tick, is taken for running; more than that for waiting. What the clocks say later
 * counts instead.
 *
 * Units      *_ns: CLOCK_MONOTONIC nanoseconds. Pure.
 */
#ifndef ISOSCOPE_LATE_CLOCK_H
#define ISOSCOPE_LATE_CLOCK_H

#include "../wall/shares.h"

#include <stdbool.h>
#include <stdint.h>

struct late_clock {
    bool has_clock; /* false: the kernel keeps none, and what is seen decides */
    struct thread_clock first, last;
    int64_t since_ns, looked_ns;
    int64_t open_ns; /* what an awake one did and the clocks have not told yet */
    uint64_t running_ns, runnable_ns, sleeping_ns;
};

/* clock: NULL where the kernel keeps none. */
void late_clock_begin(struct late_clock *clock, const struct thread_clock *first, int64_t now_ns);
/* Returns how much more it has slept than at the look before. */
uint64_t late_clock_look(struct late_clock *clock, const struct thread_clock *last, int64_t now_ns,
                         int64_t tick_ns, bool awake);

#endif
