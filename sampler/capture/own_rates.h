/*
 * own_rates.h - whether allocations and waits are sampled, and how many.
 *
 *   begin.c, announce.c, sampler.c, tend.c (a feed comes, goes, is switched) -> here -> own/
 *
 * Threads look at a number now and then: 0 where nothing is sampled, and another one with each change. Of
 * waits it is isoscope_waits_wanted (isoscope/locks.h).
 *
 * Threads    Any; those that change a rate hold the sampler's lock, or start it.
 * Signals    SIGNAL_SAFE.
 */
#ifndef ISOSCOPE_OWN_RATES_H
#define ISOSCOPE_OWN_RATES_H

#include "../feed/signal_safe.h"

#include <stdbool.h>
#include <stdint.h>

/* Of allocations. */
extern uint32_t own_rates_epoch;

/* Before the sampler starts. mean_bytes, mean_us: of which one is sampled, until the service says something
 * else; 0: none is. filter: of who stands before malloc, which becomes ours (address_filter.h); NULL:
 * nobody does. own: the program's calls of malloc reach another one. */
void own_rates_prepare_allocations(uint32_t mean_bytes, uint8_t *filter, bool own);
/* seen: somebody stands before the calls that wait. */
void own_rates_prepare_waits(uint32_t mean_us, bool seen);

/* The sampler has another feed, whose table of allocations is empty. */
SIGNAL_SAFE void own_rates_begin(void);
/* It has none any more. */
SIGNAL_SAFE void own_rates_end(void);
/* What the service wants, if it has said anything yet. read: somebody reads the feed. */
SIGNAL_SAFE void own_rates_follow(bool read);

/* Bytes, and nanoseconds waited, of which one is sampled, on average, just now. */
SIGNAL_SAFE uint32_t own_rates_mean_bytes(void);
SIGNAL_SAFE uint64_t own_rates_mean_ns(void);

#endif
