/*
 * ring.h - one thread's records on their way to the collector.
 *
 *   capture/capture.c (writes: ticks, and the thread itself) -> ring -> feed/feed_reader.c (reads)
 *
 * Units      Positions are bytes ever written or read; a position modulo the size is a place.
 * Ownership  The memory is the feed's. ring_reserve lends a place; the loan ends at ring_commit,
 *            or at ring_cancel (the record is then never seen).
 * Threads    One writer, the sampled thread. One reader, the collector. No locks.
 *            A tick, or a handler of the program's, may come in the middle of a write of that
 *            thread: ring_busy says so, and what comes is refused. So nothing is ever torn.
 * Signals    The whole writing side is SIGNAL_SAFE.
 * Errors     A full ring is no error: ring_reserve gives NULL and the caller counts the loss.
 *
 * A writer that finds its ring empty beyond low_bytes starts over at the
 * front, so a thread that is read in time touches a few pages, not the whole ring.
 */
#ifndef ISOSCOPE_RING_H
#define ISOSCOPE_RING_H

#include "record.h"
#include "signal_safe.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    FEED_RING_LOW_BYTES = 32 * 1024,
    /* What is behind it is a pad until the reader comes again, so so much is left until then. */
    FEED_EVENT_RING_LOW_BYTES = 512 * 1024,
};

/* A write is under way. In the writer's own memory; zeros at first. */
struct ring_busy {
    _Atomic uint32_t write;   /* its number; 0: there is none */
    _Atomic uint32_t last;    /* number given */
    _Atomic uint32_t refused; /* writes since it began */
};
/* A handler of the program's may jump out of the middle of a write, which then never ends. After so
 * many were refused it is given up: ticks come a period apart, and a write takes microseconds. */
enum { RING_REFUSALS_MAX = 64 };

/* The writer's view: built on the stack of the handler, or kept; holds no state of its own. */
struct ring_writer {
    _Atomic uint64_t *head;       /* bytes ever written */
    const _Atomic uint64_t *tail; /* bytes ever read */
    uint8_t *bytes;               /* the ring's memory */
    uint32_t size_bytes;          /* a power of two */
    uint32_t low_bytes;           /* FEED_RING_LOW_BYTES, or of a ring of events */
    uint64_t reserved_at;         /* position of the reserved record */
    struct ring_busy *busy;       /* NULL: nothing ever interrupts this writer to write */
    uint32_t write;               /* number of the write that is under way */
    bool refused;                 /* ring_reserve gave NULL because another one is */
};

/* Lends size_bytes_max bytes in one piece (a multiple of 8, at most half the ring); NULL when full,
 * or refused. ring_commit or ring_cancel must follow, unless NULL. */
SIGNAL_SAFE void *ring_reserve(struct ring_writer *ring, uint32_t size_bytes_max);
/* Hands the reserved record to the reader. Its head.size_bytes, now final, may be smaller
 * than what was reserved. False: this write was given up meanwhile, and is not seen. */
SIGNAL_SAFE bool ring_commit(struct ring_writer *ring);
SIGNAL_SAFE void ring_cancel(struct ring_writer *ring);
/* All of it for a record that is ready. */
SIGNAL_SAFE bool ring_put(struct ring_writer *ring, const struct feed_record *record);

/*
 * The reader's side trusts neither head nor the records. out: where the record is copied.
 * Returns the record's size in bytes, of which out may have room for the first; 0 when the ring is empty;
 * -1 when what is there is no record: the caller calls ring_skip and counts a loss.
 */
/* The reader's own: what the feed holds may be scribbled on. */
struct ring_place {
    uint64_t tail; /* how far it was read */
    uint64_t
        head; /* how far it is known to be written: to look takes the writer's cache line away */
};
struct ring_reader {
    const _Atomic uint64_t *head;
    _Atomic uint64_t *told; /* how far it was read, for the writer */
    const uint8_t *bytes;
    uint32_t size_bytes;
    struct ring_place at;
    uint32_t last_bytes; /* of the record read and not yet released */
};
int ring_read(struct ring_reader *ring, void *out, uint32_t out_bytes);
/* Gives the room of the last ring_read back. */
void ring_release(struct ring_reader *ring);
/* Throws away everything unread. */
void ring_skip(struct ring_reader *ring);

#endif
