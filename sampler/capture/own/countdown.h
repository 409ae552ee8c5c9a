/*
 * countdown.h - a thread's way to the next thing that is sampled: so many units of it, by chance.
 *
 * The state is isoscope/memory.h's, which a program's own code counts down. Units are bytes, or
 * nanoseconds waited.
 *
 * Threads    A state is its thread's.
 * Signals    SIGNAL_SAFE.
 */
#ifndef ISOSCOPE_OWN_COUNTDOWN_H
#define ISOSCOPE_OWN_COUNTDOWN_H

#include "chance.h"

#include "../system/clock.h"

#include "../../feed/layout.h"
#include "../../feed/sys.h"
#include "../../include/isoscope/memory.h"

#include <stdbool.h>

/* Where nothing is sampled it may be soon, by a sampler that starts just now. */
enum { COUNTDOWN_STEP = 1 << 20, COUNTDOWN_REST = 64 * 1024 };

/* A step at a time, so that a change is noticed soon. */
SIGNAL_SAFE_INLINE void countdown_set(struct isoscope_memory_thread *thread, int64_t units)
{
    thread->left = units < COUNTDOWN_STEP ? units : COUNTDOWN_STEP;
    thread->rest = units - thread->left;
}

SIGNAL_SAFE_INLINE void countdown_draw(struct isoscope_memory_thread *thread)
{
    countdown_set(thread, chance_units(&thread->random, thread->mean_bytes));
}

/* What was left is of no use any more, and what is at hand is the first. */
SIGNAL_SAFE_INLINE void countdown_begin(struct isoscope_memory_thread *thread, uint32_t epoch,
                                        uint64_t mean, uint64_t units)
{
    if (!thread->random)
        thread->random = clock_ns(CLOCK_MONOTONIC) ^ (uint64_t)sys_gettid() << 40;
    thread->epoch = epoch;
    thread->mean_bytes = mean;
    countdown_draw(thread);
    thread->left -= (int64_t)units;
}

/* False: the next one to be sampled is not reached. */
SIGNAL_SAFE_INLINE bool countdown_is_reached(struct isoscope_memory_thread *thread)
{
    if (thread->left + thread->rest < 0)
        return true;
    countdown_set(thread, thread->left + thread->rest);
    return false;
}

/* log2 of the largest mean by which the allocation that is at hand would have been sampled, too: the
 * point that made it a sample lies so many bytes into it, and twice as many by twice the mean. So
 * whoever keeps of the sampled ones those that a larger mean would have met needs no chance of its own.
 * Before the next point is drawn. */
SIGNAL_SAFE_INLINE uint32_t countdown_level(const struct isoscope_memory_thread *thread,
                                            uint64_t bytes)
{
    int64_t into = (int64_t)bytes + thread->left + thread->rest;
    double largest = (double)bytes * (double)thread->mean_bytes / (double)(into > 0 ? into : 1);

    return largest < 0x1p62 ? 63 - (uint32_t)__builtin_clzll((uint64_t)largest | 1)
                            : FEED_ALLOCATION_LEVEL_MAX;
}

/* Where nothing is sampled. */
SIGNAL_SAFE_INLINE void countdown_rest(struct isoscope_memory_thread *thread)
{
    thread->epoch = 0;
    thread->left = COUNTDOWN_REST;
    thread->rest = 0;
}

#endif
