#include "feed_reader_state.h"

#include <stdatomic.h>
#include <string.h>

/* False: the slot has none. */
static bool event_ring_of(struct feed_reader *reader, uint32_t slot, struct ring_reader *out)
{
    struct feed_thread *thread = &reader->threads[slot];
    uint32_t number;

    if (slot == 0 || slot >= reader->layout.thread_capacity)
        return false;
    number = atomic_load_explicit(&thread->event_ring, memory_order_acquire);
    if (number <= 1 || number > reader->layout.event_ring_capacity ||
        !feed_reader_reach_place(reader, slot))
        return false;
    *out = (struct ring_reader){
        .head = &thread->event_head,
        .told = &thread->event_tail,
        .bytes = reader->event_rings + (number - 1) * (uint64_t)FEED_EVENT_RING_BYTES,
        .size_bytes = FEED_EVENT_RING_BYTES,
        .at = reader->places[slot].events,
    };
    return true;
}

bool feed_reader_next_event(struct feed_reader *reader, uint32_t slot, struct feed_event_parts *out)
{
    enum found found = FOUND_SKIPPED;
    struct ring_reader ring;
    uint64_t began;

    if (!event_ring_of(reader, slot, &ring))
        return false;
    began = ring.at.tail;
    while (found == FOUND_SKIPPED && ring.at.tail - began < FEED_EVENT_RING_BYTES)
        found = feed_reader_read(reader, &ring)
                    ? feed_reader_found(reader, &ring, feed_event_check(&reader->record, out))
                    : FOUND_NONE;
    reader->places[slot].events = ring.at;
    return found == FOUND_NEXT;
}

uint32_t feed_reader_streams(const struct feed_reader *reader)
{
    uint32_t used =
        atomic_load_explicit(&reader->shared->status.streams_used, memory_order_acquire);

    return used < FEED_STREAMS_MAX ? used : FEED_STREAMS_MAX;
}

bool feed_reader_stream(struct feed_reader *reader, uint32_t place, char name[FEED_NAME_MAX + 1])
{
#define STREAM_NAME(name, text) [FEED_STREAM_##name] = text,
    static const char *const fixed[] = { FEED_STREAMS(STREAM_NAME) };
#undef STREAM_NAME

    if (place >= FEED_STREAMS_MAX)
        return false;
    if (place >= FEED_STREAM_COUNT)
        return feed_reader_name(
            reader,
            atomic_load_explicit(&reader->shared->status.streams[place], memory_order_relaxed),
            name);
    strcpy(name, fixed[place]);
    return true;
}

void feed_reader_want_streams(struct feed_reader *reader, uint64_t places)
{
    atomic_store_explicit(&reader->shared->control.streams, places, memory_order_relaxed);
    feed_reader_told(reader);
}
