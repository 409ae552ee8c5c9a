/*
 * lock_rate.h - whether waits are sampled, and how many.
 *
 *   begin.c, announce.c, sampler.c, tend.c (a feed comes, goes, is switched) -> here -> own/waits.c
 *
 * isoscope_waits_wanted (isoscope/locks.h) is 0 where none is, and another number with each change.
 *
 * Threads    Any; those that change the rate hold the sampler's lock, or start it.
 * Signals    SIGNAL_SAFE.
 */
#ifndef ISOSCOPE_LOCK_RATE_H
#define ISOSCOPE_LOCK_RATE_H

#include "../feed/signal_safe.h"

#include <stdbool.h>
#include <stdint.h>

/* Before the sampler starts. mean_us: of which one is sampled, until the service says something else;
 * 0: none is. seen: somebody stands before the calls that wait. */
void lock_rate_prepare(uint32_t mean_us, bool seen);
/* The sampler has another feed. */
SIGNAL_SAFE void lock_rate_begin(void);
/* It has none any more. */
SIGNAL_SAFE void lock_rate_end(void);
/* What the service wants, if it has said anything yet. read: somebody reads the feed. */
SIGNAL_SAFE void lock_rate_follow(bool read);

/* Nanoseconds waited of which one is sampled, on average, just now. */
SIGNAL_SAFE uint64_t lock_rate_mean_ns(void);

#endif
