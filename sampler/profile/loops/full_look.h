/*
 * full_look.h - the stacks of all threads of a program that sleep, once.
 *
 *   watcher, when a report asks for it -> late_all_threads -> ring 0 (FEED_KIND_STALL), a sample each
 *
 * Running threads have their own ticks.
 *
 * Threads    As late_thread.h.
 */
#ifndef ISOSCOPE_FULL_LOOK_H
#define ISOSCOPE_FULL_LOOK_H

#include <stdint.h>

struct subject;

enum {
    FULL_LOOK_TOLD_MAX = 64,
    FULL_LOOK_SLOTS_MAX = 256, /* are looked at */
};

/* Returns how many were told. */
int late_all_threads(struct subject *subject, int64_t now_ns);

#endif
