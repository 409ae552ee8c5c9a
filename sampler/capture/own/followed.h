/*
 * followed.h - a sampled allocation's address, from its sample until it is freed.
 *
 *   own_sample.c (before its record is in the ring), allocations.c (its free) -> feed_allocations
 *
 * There is a bound to them, and the service may want fewer: then those go that a mean of twice as many
 * bytes would not have met, of those that live as of those that come (countdown_level). What is left is as
 * if it had been sampled by that mean, so sums stay right.
 *
 * Threads    Any.
 * Signals    SIGNAL_SAFE.
 */
#ifndef ISOSCOPE_OWN_FOLLOWED_H
#define ISOSCOPE_OWN_FOLLOWED_H

#include "../../feed/signal_safe.h"

#include <stdint.h>

/* The mark; 0: it is not followed, as others stand for it, or there is no room, which is counted. */
SIGNAL_SAFE uint64_t followed_begin(uint64_t address, uint32_t level);
/* The mark that it had; 0: none. */
SIGNAL_SAFE uint64_t followed_end(uint64_t address);
/* All in [from, to). Looks at the whole table: some 50 us. */
SIGNAL_SAFE void followed_end_between(uint64_t from, uint64_t to);
/* It was not freed after all. */
SIGNAL_SAFE void followed_again(uint64_t address, uint64_t mark);

#endif
