#include "ring_write.h"

#include <stdatomic.h>
#include <string.h>

/* The handler may not fall into a lock that the interrupted code holds. */
static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "the ring needs lock-free atomics");

void *ring_reserve(struct ring_writer *ring, uint32_t size_bytes_max)
{
    void *record;

    if (!ring_begin_write(ring, RING_REFUSALS_MAX))
        return NULL;
    record = ring_find_room(ring, size_bytes_max);
    if (!record)
        ring_end_write(ring);
    return record;
}

bool ring_commit(struct ring_writer *ring)
{
    if (!ring_is_writing(ring))
        return false;
    ring_publish(ring);
    ring_end_write(ring);
    return true;
}

void ring_cancel(struct ring_writer *ring)
{
    ring_end_write(ring);
}

bool ring_put(struct ring_writer *ring, const struct feed_record *record)
{
    void *place = ring_reserve(ring, record->size_bytes);

    if (!place)
        return false;
    memcpy(place, record, record->size_bytes);
    return ring_commit(ring);
}

/* True when the record could be one: whole, aligned, inside what was written and inside the ring.
 */
static bool believable(const struct feed_record *record, uint64_t unread, uint32_t to_end)
{
    return record->size_bytes >= sizeof *record && record->size_bytes % 8 == 0 &&
           record->size_bytes <= unread && record->size_bytes <= to_end;
}

int ring_read(struct ring_reader *ring, void *out, uint32_t out_bytes)
{
    /* Once: a writer that pads on and on must not hold us. */
    if (ring->at.tail == ring->at.head)
        ring->at.head = atomic_load_explicit(ring->head, memory_order_acquire);

    for (;;) {
        uint64_t unread = ring->at.head - ring->at.tail;
        uint32_t place = (uint32_t)(ring->at.tail & (ring->size_bytes - 1));
        struct feed_record record;

        ring->last_bytes = 0;
        if (unread == 0)
            return 0;
        if (unread > ring->size_bytes || unread < sizeof record)
            return -1;
        /* Copied before it is checked: the writer may scribble between the two. */
        memcpy(&record, ring->bytes + place, sizeof record);
        if (!believable(&record, unread, ring->size_bytes - place))
            return -1;
        ring->last_bytes = record.size_bytes;
        if (record.type == FEED_RECORD_PAD) {
            ring_release(ring);
            continue;
        }
        memcpy(out, ring->bytes + place,
               record.size_bytes < out_bytes ? record.size_bytes : out_bytes);
        memcpy(out, &record, sizeof record);
        return (int)record.size_bytes;
    }
}

void ring_release(struct ring_reader *ring)
{
    ring->at.tail += ring->last_bytes;
    ring->last_bytes = 0;
    atomic_store_explicit(ring->told, ring->at.tail, memory_order_release);
}

void ring_skip(struct ring_reader *ring)
{
    ring->at.tail = ring->at.head = atomic_load_explicit(ring->head, memory_order_acquire);
    ring->last_bytes = 0;
    atomic_store_explicit(ring->told, ring->at.tail, memory_order_release);
}
