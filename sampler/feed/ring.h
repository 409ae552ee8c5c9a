/*
 * ring.h - one thread's records on their way from the tick handler to the collector.
 *
 *   capture/handler.c (writes, in the signal handler) -> ring -> feed/reader.c (reads)
 *
 * Units      Positions are bytes ever written or read; a position modulo the size is a place.
 * Ownership  The memory is the segment's. ring_reserve lends a place; the loan ends at ring_commit,
 *            or with no commit at all (the record is then never seen).
 * Threads    One writer, the sampled thread. One reader, the collector. No locks.
 * Signals    The whole writing side is SIGNAL_SAFE.
 * Errors     A full ring is no error: ring_reserve gives NULL and the caller counts the loss.
 *
 * A writer that finds its ring empty beyond FEED_RING_LOW_BYTES starts over at the
 * front, so a thread that is read in time touches a few pages, not the whole ring.
 */
#ifndef ISOSCOPE_RING_H
#define ISOSCOPE_RING_H

#include "layout.h"
#include "signal_safe.h"

#include <stdbool.h>
#include <stdint.h>

enum { FEED_RING_LOW_BYTES = 32 * 1024 };

/* The writer's view: built on the stack of the handler, or kept; holds no state of its own. */
struct ring_writer {
    struct feed_thread *thread; /* head and tail */
    uint8_t *bytes;             /* the ring's memory */
    uint32_t size_bytes;        /* a power of two */
    uint64_t reserved_at;       /* position of the reserved record */
};

/* Lends size_bytes_max bytes in one piece (a multiple of 8, at most half the ring); NULL when full.
 */
SIGNAL_SAFE void *ring_reserve(struct ring_writer *ring, uint32_t size_bytes_max);
/* Hands the reserved record to the reader. Its head.size_bytes, now final, may be smaller
 * than what was reserved. */
SIGNAL_SAFE void ring_commit(struct ring_writer *ring);

/*
 * The reader's side trusts neither head nor the records. out: where the record is copied.
 * Returns the record's size in bytes; 0 when the ring is empty;
 * -1 when what is there is no record: the caller calls ring_skip and counts a loss.
 */
struct ring_reader {
    struct feed_thread *thread;
    const uint8_t *bytes;
    uint32_t size_bytes;
    uint64_t tail;       /* the reader's own copy: what the segment holds may be scribbled on */
    uint32_t last_bytes; /* of the record read and not yet released */
};
int ring_read(struct ring_reader *ring, void *out, uint32_t out_bytes);
/* Gives the room of the last ring_read back. */
void ring_release(struct ring_reader *ring);
/* Throws away everything unread. */
void ring_skip(struct ring_reader *ring);

#endif
