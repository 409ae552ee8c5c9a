/*
 * feed_events.h - the program's side of what events need in a feed: rings of their own, and streams.
 *
 *   capture/events -> feed_events -> rings of events -> feed_reader.h in the service
 *
 * A thread gets a ring with its first event. Its slot keeps it, so rings are as many as the slots
 * whose threads ever wrote an event at the same time.
 *
 * Threads    Any, for its own slot.
 * Signals    SIGNAL_SAFE.
 */
#ifndef ISOSCOPE_FEED_EVENTS_H
#define ISOSCOPE_FEED_EVENTS_H

#include "feed_writer.h"

/* The ring of events of that thread; its busy is to be filled in. False: there is none left, or no
 * address space for it. */
SIGNAL_SAFE bool feed_events_ring(struct feed_writer *writer, uint32_t slot,
                                  struct ring_writer *out);
/* What a stream is called: once in each feed. place: from FEED_STREAM_COUNT on; the process gives
 * them out, and keeps them in all its feeds. */
SIGNAL_SAFE void feed_events_stream(struct feed_writer *writer, uint32_t place, const char *name);

#endif
