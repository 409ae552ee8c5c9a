/*
 * punctual.h - a thread of the service that has a turn at a certain moment, says when the next one is due, and
 * sleeps until then.
 *
 *     punctual_start -> turn -> sleep (or punctual_wake) -> turn ... -> punctual_stop
 *
 * Its timers have no slack, and where the kernel grants it, it is preferred when it wakes.
 *
 * Units      *_ns: CLOCK_MONOTONIC.
 * Ownership  The user's struct; all zeros is one that was not started.
 * Threads    punctual_wake: any. start and stop: one at a time.
 * Errors     punctual_start: 0 or -ISOSCOPE_SYSTEM.
 */
#ifndef ISOSCOPE_PUNCTUAL_H
#define ISOSCOPE_PUNCTUAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct punctual {
    _Atomic uint32_t wake; /* +1: there is something to do */
    _Atomic bool stopping;
    bool started;
    pthread_t thread;
    const char *name;
    int64_t (*turn)(void *context);
    void *context;
};

/* name: static, at most 15 bytes. turn returns when the next one is due; INT64_MAX: when it is woken. */
int punctual_start(struct punctual *thread, const char *name, int64_t (*turn)(void *context),
                   void *context);
/* Returns when there are no more turns. One that was not started is fine. */
void punctual_stop(struct punctual *thread);
/* The next turn is now. */
void punctual_wake(struct punctual *thread);

#endif
