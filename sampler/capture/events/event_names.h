/*
 * event_names.h - the names of events, once per place in the code and per feed.
 *
 *   struct isoscope_site -> event_names -> names and streams of the feed
 *
 * A stream has the same place in every feed of the process, and in its forked children.
 *
 * Threads    Any; all that know a site write the same into it.
 * Signals    SIGNAL_SAFE.
 */
#ifndef ISOSCOPE_EVENT_NAMES_H
#define ISOSCOPE_EVENT_NAMES_H

#include "../../feed/feed_writer.h"
#include "../../feed/record.h"
#include "../../include/isoscope/event.h"

#include <stdint.h>

/* What a site knows: the epoch of the feed, the stream's place, the name's. */
#define EVENT_KNOWN(epoch, stream, name)                                                           \
    ((uint64_t)(epoch) << 32 | (uint64_t)(stream) << 24 | (uint64_t)(name))
#define EVENT_KNOWN_EPOCH(known)  ((uint32_t)((known) >> 32))
#define EVENT_KNOWN_STREAM(known) ((uint32_t)((known) >> 24) & (FEED_STREAMS_MAX - 1))
#define EVENT_KNOWN_NAME(known)   ((uint32_t)(known)&0xffffff)
static_assert((int)FEED_NAMES_BYTES <= 1 << 24, "a name's place has 24 bits");

SIGNAL_SAFE_INLINE uint64_t event_known(const struct isoscope_site *site)
{
    return __atomic_load_n(&site->known, __ATOMIC_ACQUIRE);
}

/* Puts what the site has into the feed, and returns what it knows then. count: 4 at most. */
SIGNAL_SAFE uint64_t event_names_learn(struct feed_writer *writer, struct isoscope_site *site,
                                       uint32_t epoch, const struct isoscope_argument *arguments,
                                       uint32_t count);

#endif
