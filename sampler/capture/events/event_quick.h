/*
 * event_quick.h - an event without arguments, of a thread and a place that told one before.
 *
 *   events.c: event_quick_tell, or else the long way
 *
 * The same steps as the long way's, with nothing kept in memory but what others are to see: its
 * cost is what a program notices of begin and end.
 *
 * Threads    The thread itself.
 * Signals    SIGNAL_SAFE.
 */
#ifndef ISOSCOPE_EVENT_QUICK_H
#define ISOSCOPE_EVENT_QUICK_H

#include "event_names.h"
#include "event_thread.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* True: the site is known in this feed, its stream is wanted, and no loss is to be told first. */
SIGNAL_SAFE_INLINE bool event_quick_is_ready(const struct event_thread *thread, uint64_t known)
{
    uint32_t epoch = event_epoch_now();

    return thread->entered == ~epoch && EVENT_KNOWN_EPOCH(known) == epoch &&
           atomic_load_explicit(thread->streams, memory_order_relaxed) >>
                   EVENT_KNOWN_STREAM(known) &
               1 &&
           !atomic_load_explicit(&thread->lost, memory_order_relaxed);
}

/* looks: whether the kernel's clock is looked at where that is due. Who does not calls nothing. */
SIGNAL_SAFE_INLINE bool event_quick_ns(struct event_thread *thread, bool looks, uint64_t *ns)
{
    if (event_clock_count(&thread->clock, ns))
        return true;
    if (looks)
        *ns = event_clock_look(&thread->clock);
    return looks;
}

/* In front, and a ring's length behind what was read. The ring is used up to its end, or begun
 * again, by the long way. */
SIGNAL_SAFE_INLINE bool event_quick_has_room(struct event_thread *thread, uint64_t at,
                                             uint32_t bytes)
{
    const struct ring_writer *ring = &thread->ring;
    uint32_t place = (uint32_t)(at & (ring->size_bytes - 1));

    if (__builtin_expect(
            place + bytes <= ring->low_bytes && at + bytes - thread->tail <= ring->size_bytes, 1))
        return true;
    thread->tail = atomic_load_explicit(ring->tail, memory_order_acquire);
    return place + bytes <= ring->size_bytes && at + bytes - thread->tail <= ring->size_bytes &&
           (place < ring->low_bytes || at != thread->tail);
}

/* Writes it at the ring's head, which is *head. False: it does not fit there, or a look is due. */
SIGNAL_SAFE_INLINE bool event_quick_write(struct event_thread *thread, uint64_t known,
                                          enum feed_event_phase phase, bool looks, uint64_t *head)
{
    const struct ring_writer *ring = &thread->ring;
    const uint32_t bytes = sizeof(struct feed_event) + (phase == FEED_EVENT_BEGIN ? 8 : 0);
    uint64_t at = atomic_load_explicit(ring->head, memory_order_relaxed);
    struct feed_event *record = (struct feed_event *)(ring->bytes + (at & (ring->size_bytes - 1)));
    uint64_t ns;

    if (!event_quick_has_room(thread, at, bytes))
        return false;
    ring_fetch_ahead(record);
    record->head = (struct feed_record){
        .size_bytes = bytes,
        .type = FEED_RECORD_EVENT,
        .slot = FEED_EVENT_HEAD(phase, EVENT_KNOWN_STREAM(known), 0),
    };
    if (phase == FEED_EVENT_BEGIN)
        record->words[0] = EVENT_KNOWN_NAME(known);
    /* Last: what this costs lies before the slice. */
    if (!event_quick_ns(thread, looks, &ns))
        return false;
    record->timestamp_ns = (int64_t)ns;
    *head = at + bytes;
    return true;
}

/* phase: BEGIN or END. False: it is not told yet, and the long way says why. */
SIGNAL_SAFE_INLINE bool event_quick_tell(const struct isoscope_site *site,
                                         enum feed_event_phase phase, bool looks)
{
    struct event_thread *thread = &event_thread;
    struct ring_busy *busy = thread->ring.busy;
    uint64_t known = event_known(site), head;
    uint32_t number;
    bool told;

    if (__builtin_expect(!busy || atomic_load_explicit(&busy->write, memory_order_relaxed) != 0, 0))
        return false;
    number = ring_mark_write(busy);
    told = __builtin_expect(event_quick_is_ready(thread, known), 1) &&
           __builtin_expect(event_quick_write(thread, known, phase, looks, &head), 1);
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(atomic_load_explicit(&busy->write, memory_order_relaxed) != number, 0))
        return false; /* given up meanwhile: what was written may be another's by now */
    if (told)
        atomic_store_explicit(thread->ring.head, head, memory_order_release);
    atomic_store_explicit(&busy->write, 0, memory_order_release);
    return told;
}

#endif
