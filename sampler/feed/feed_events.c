#include "feed_events.h"

#include "atomic_raise.h"

#include <stdatomic.h>

void feed_events_stream(struct feed_writer *writer, uint32_t place, const char *name)
{
    struct feed_status *status = &writer->header->status;

    atomic_store_explicit(&status->streams[place], feed_writer_name(writer, name),
                          memory_order_relaxed);
    atomic_raise(&status->streams_used, place + 1);
}

SIGNAL_SAFE_INLINE uint64_t event_ring_offset(uint32_t number)
{
    return number * (uint64_t)FEED_EVENT_RING_BYTES;
}

/* The number + 1; 0: there is none left. A handler of the program's may come in between, and get
 * one: then its is the slot's, and this one is nobody's. */
static SIGNAL_SAFE uint32_t new_event_ring(struct feed_writer *writer, struct feed_thread *thread)
{
    _Atomic uint32_t *used = &writer->header->status.event_rings_used;
    uint32_t number = atomic_load_explicit(used, memory_order_relaxed), none = 0;

    do
        if (event_ring_offset(number) >= writer->event_rings.bytes)
            return 0;
    while (!atomic_compare_exchange_weak_explicit(used, &number, number + 1, memory_order_relaxed,
                                                  memory_order_relaxed));
    return atomic_compare_exchange_strong(&thread->event_ring, &none, number + 1) ? number + 1
                                                                                  : none;
}

bool feed_events_ring(struct feed_writer *writer, uint32_t slot, struct ring_writer *out)
{
    struct feed_thread *thread = &writer->threads[slot];
    uint32_t ring = atomic_load_explicit(&thread->event_ring, memory_order_relaxed);

    if (!ring)
        ring = new_event_ring(writer, thread);
    /* The service could have written there. */
    if (ring <= 1 || event_ring_offset(ring - 1) >= writer->event_rings.bytes ||
        !part_reach(&writer->event_rings, event_ring_offset(ring - 1)))
        return false;
    *out = (struct ring_writer){
        .head = &thread->event_head,
        .tail = &thread->event_tail,
        .bytes = part_at(&writer->event_rings, event_ring_offset(ring - 1)),
        .size_bytes = FEED_EVENT_RING_BYTES,
        .low_bytes = FEED_EVENT_RING_LOW_BYTES,
    };
    return true;
}
