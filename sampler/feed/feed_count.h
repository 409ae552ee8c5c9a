/*
 * feed_count.h - a counter in the feed, whoever adds to it.
 *
 * Signal-safe, any thread. Counters tell how much; nothing else is ordered by them.
 */
#ifndef ISOSCOPE_FEED_COUNT_H
#define ISOSCOPE_FEED_COUNT_H

#include "signal_safe.h"

#include <stdatomic.h>
#include <stdint.h>

SIGNAL_SAFE_INLINE void feed_count(_Atomic uint64_t *counter, uint64_t more)
{
    atomic_fetch_add_explicit(counter, more, memory_order_relaxed);
}

#endif
