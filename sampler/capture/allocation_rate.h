/*
 * allocation_rate.h - whether allocations are sampled, and which addresses may be sampled ones.
 *
 *   begin.c, announce.c, sampler.c, tend.c (a feed comes, goes, is switched) -> here -> alloc/
 *
 * Threads look at the epoch now and then. The filter (isoscope/memory.h) has a counter for each of
 * 65,536 groups of addresses.
 *
 * Threads    Any; those that change the rate hold the sampler's lock, or start it.
 * Signals    SIGNAL_SAFE.
 */
#ifndef ISOSCOPE_ALLOCATION_RATE_H
#define ISOSCOPE_ALLOCATION_RATE_H

#include "../feed/signal_safe.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* 0: nothing is sampled; another one with each change. */
extern _Atomic uint32_t allocation_epoch;

/* Before the sampler starts. mean_bytes: of which one is sampled, until the service says something
 * else; 0: none is. seen_by: the filter of who stands before malloc, which becomes ours; NULL: nobody does.
 * own: the program's calls of malloc reach another one. */
void allocation_rate_prepare(uint32_t mean_bytes, uint8_t *seen_by, bool own);
/* The sampler has another feed, whose table is empty. */
SIGNAL_SAFE void allocation_rate_begin(void);
/* It has none any more. */
SIGNAL_SAFE void allocation_rate_end(void);
/* What the service wants, if it has said anything yet. read: somebody reads the feed. */
SIGNAL_SAFE void allocation_rate_follow(bool read);

/* Bytes of which one is sampled, on average, in this epoch. */
SIGNAL_SAFE uint32_t allocation_rate_mean(void);
/* An address is, or is no longer, a sampled one that lives. */
SIGNAL_SAFE void allocation_rate_count(uint64_t address, bool lives);

#endif
