/*
 * ring_write.h - the writing side of ring.h in parts, for who writes a record in few instructions.
 *
 *   ring_begin_write -> ring_find_room, fill, ring_publish, as often as wanted -> ring_end_write
 *
 * Threads, signals, errors: as in ring.h.
 */
#ifndef ISOSCOPE_RING_WRITE_H
#define ISOSCOPE_RING_WRITE_H

#include "ring.h"

#include <stdatomic.h>
#include <stddef.h>

SIGNAL_SAFE_INLINE struct feed_record *ring_record_at(struct ring_writer *ring, uint64_t position)
{
    return (struct feed_record *)(ring->bytes + (position & (ring->size_bytes - 1)));
}

/* Fills the rest of the ring up to its end, so that the next record starts at the front. */
SIGNAL_SAFE_INLINE uint64_t ring_pad_to_front(struct ring_writer *ring, uint64_t head)
{
    uint32_t rest = ring->size_bytes - (uint32_t)(head & (ring->size_bytes - 1));
    struct feed_record *pad = ring_record_at(ring, head);

    pad->size_bytes = rest;
    pad->type = FEED_RECORD_PAD;
    return head + rest;
}

/* A write begins, and has this number. Whoever waits for none finds the mark from now on. */
SIGNAL_SAFE_INLINE uint32_t ring_mark_write(struct ring_busy *busy)
{
    uint32_t write =
        (atomic_load_explicit(&busy->last, memory_order_relaxed) + 2) | 1; /* never 0 */

    atomic_store_explicit(&busy->last, write, memory_order_relaxed);
    atomic_store_explicit(&busy->refused, 0, memory_order_relaxed);
    atomic_store_explicit(&busy->write, write, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    return write;
}

/* Who interrupts this has done all that he does when it goes on. */
SIGNAL_SAFE_INLINE bool ring_begin_write(struct ring_writer *ring, uint32_t refusals_max)
{
    struct ring_busy *busy = ring->busy;

    if (!busy)
        return true;
    ring->refused =
        atomic_load_explicit(&busy->write, memory_order_relaxed) != 0 &&
        atomic_fetch_add_explicit(&busy->refused, 1, memory_order_relaxed) + 1 < refusals_max;
    if (ring->refused)
        return false;
    ring->write = ring_mark_write(busy);
    return true;
}

/* False: it was given up. */
SIGNAL_SAFE_INLINE bool ring_is_writing(const struct ring_writer *ring)
{
    return !ring->busy ||
           atomic_load_explicit(&ring->busy->write, memory_order_relaxed) == ring->write;
}

SIGNAL_SAFE_INLINE void ring_end_write(struct ring_writer *ring)
{
    atomic_signal_fence(memory_order_seq_cst);
    if (ring->busy && ring_is_writing(ring))
        /* Whoever waits for this mark takes the ring away. */
        atomic_store_explicit(&ring->busy->write, 0, memory_order_release);
}

/*
 * The memory that is written next was read by another processor before. This asks for it in time:
 * some records ahead, to be written (x86's compilers ask for it to be read). It never faults.
 */
SIGNAL_SAFE_INLINE void ring_fetch_ahead(const void *record)
{
    enum { AHEAD_BYTES = 512 };
    const uint8_t *ahead = (const uint8_t *)record + AHEAD_BYTES;

#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*ahead));
#else
    __builtin_prefetch(ahead, 1);
#endif
}

/* NULL when full. */
SIGNAL_SAFE_INLINE void *ring_find_room(struct ring_writer *ring, uint32_t size_bytes_max)
{
    uint64_t head = atomic_load_explicit(ring->head, memory_order_relaxed);
    uint64_t tail = atomic_load_explicit(ring->tail, memory_order_acquire);
    uint32_t place = (uint32_t)(head & (ring->size_bytes - 1));
    bool wraps = place + size_bytes_max > ring->size_bytes;
    bool starts_over = head == tail && place >= ring->low_bytes;
    uint64_t after = head + (wraps || starts_over ? ring->size_bytes - place : 0);

    if (after + size_bytes_max - tail > ring->size_bytes)
        return NULL;
    if (after != head)
        head = ring_pad_to_front(ring, head);
    ring->reserved_at = head;
    return ring_record_at(ring, head);
}

/* What stands in the room that was found last: its head.size_bytes says how much is used. */
SIGNAL_SAFE_INLINE void ring_publish(struct ring_writer *ring)
{
    atomic_store_explicit(ring->head,
                          ring->reserved_at + ring_record_at(ring, ring->reserved_at)->size_bytes,
                          memory_order_release);
}

#endif
