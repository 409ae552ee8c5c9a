/*
 * address_filter.h - which addresses may be those of sampled allocations that live.
 *
 *   own_rates.c (a feed comes), own/followed.c (one is followed, or no more) -> here
 *   isoscope/memory.h looks at it before each free
 *
 * It has a counter for each of 65,536 groups of addresses.
 *
 * Threads    Any; who gives, reaches or clears it holds the sampler's lock, or starts it.
 * Signals    SIGNAL_SAFE.
 */
#ifndef ISOSCOPE_ADDRESS_FILTER_H
#define ISOSCOPE_ADDRESS_FILTER_H

#include "../feed/signal_safe.h"

#include <stdbool.h>
#include <stdint.h>

/* Before the sampler starts: to be used in the place of one of our own. NULL: there is none. */
void address_filter_give(uint8_t *filter);
/* False: there is no memory for one. */
SIGNAL_SAFE bool address_filter_reach(void);
/* No address is followed any more. */
SIGNAL_SAFE void address_filter_clear(void);
/* Only while it is reached. An address is, or is no longer, one that is followed. */
SIGNAL_SAFE void address_filter_count(uint64_t address, bool lives);

#endif
