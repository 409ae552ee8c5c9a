#include "ring.h"

#include <stdatomic.h>
#include <string.h>

/* The handler may not fall into a lock that the interrupted code holds. */
static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "the ring needs lock-free atomics");

SIGNAL_SAFE_INLINE struct feed_record *record_at(struct ring_writer *ring, uint64_t position)
{
    return (struct feed_record *)(ring->bytes + (position & (ring->size_bytes - 1)));
}

/* Fills the rest of the ring up to its end, so that the next record starts at the front. */
SIGNAL_SAFE_INLINE uint64_t pad_to_front(struct ring_writer *ring, uint64_t head)
{
    uint32_t rest = ring->size_bytes - (uint32_t)(head & (ring->size_bytes - 1));
    struct feed_record *pad = record_at(ring, head);

    pad->size_bytes = rest;
    pad->type = FEED_RECORD_PAD;
    return head + rest;
}

#define RELAXED memory_order_relaxed

/* Who interrupts this has done all that he does when it goes on. */
SIGNAL_SAFE_INLINE bool begin_write(struct ring_writer *ring)
{
    struct ring_busy *busy = ring->busy;

    if (!busy)
        return true;
    ring->refused = atomic_load_explicit(&busy->write, RELAXED) != 0 &&
                    atomic_fetch_add_explicit(&busy->refused, 1, RELAXED) + 1 < RING_REFUSALS_MAX;
    if (ring->refused)
        return false;
    ring->write = (atomic_load_explicit(&busy->last, RELAXED) + 2) | 1; /* never 0 */
    atomic_store_explicit(&busy->last, ring->write, RELAXED);
    atomic_store_explicit(&busy->refused, 0, RELAXED);
    atomic_store_explicit(&busy->write, ring->write, RELAXED);
    atomic_signal_fence(memory_order_seq_cst);
    return true;
}

/* False: it was given up. */
SIGNAL_SAFE_INLINE bool is_writing(const struct ring_writer *ring)
{
    return !ring->busy || atomic_load_explicit(&ring->busy->write, RELAXED) == ring->write;
}

SIGNAL_SAFE_INLINE void end_write(struct ring_writer *ring)
{
    atomic_signal_fence(memory_order_seq_cst);
    if (ring->busy && is_writing(ring))
        atomic_store_explicit(&ring->busy->write, 0, RELAXED);
}

/* NULL when full. */
SIGNAL_SAFE_INLINE void *find_room(struct ring_writer *ring, uint32_t size_bytes_max)
{
    uint64_t head = atomic_load_explicit(ring->head, memory_order_relaxed);
    uint64_t tail = atomic_load_explicit(ring->tail, memory_order_acquire);
    uint32_t place = (uint32_t)(head & (ring->size_bytes - 1));
    bool wraps = place + size_bytes_max > ring->size_bytes;
    bool starts_over = head == tail && place >= FEED_RING_LOW_BYTES;
    uint64_t after = head + (wraps || starts_over ? ring->size_bytes - place : 0);

    if (after + size_bytes_max - tail > ring->size_bytes)
        return NULL;
    if (after != head)
        head = pad_to_front(ring, head);
    ring->reserved_at = head;
    return record_at(ring, head);
}

void *ring_reserve(struct ring_writer *ring, uint32_t size_bytes_max)
{
    void *record;

    if (!begin_write(ring))
        return NULL;
    record = find_room(ring, size_bytes_max);
    if (!record)
        end_write(ring);
    return record;
}

bool ring_commit(struct ring_writer *ring)
{
    uint64_t head = ring->reserved_at + record_at(ring, ring->reserved_at)->size_bytes;

    if (!is_writing(ring))
        return false;
    atomic_store_explicit(ring->head, head, memory_order_release);
    end_write(ring);
    return true;
}

void ring_cancel(struct ring_writer *ring)
{
    end_write(ring);
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
    uint64_t head = atomic_load_explicit(ring->head, memory_order_acquire);

    for (;;) {
        uint64_t unread = head - ring->tail;
        uint32_t place = (uint32_t)(ring->tail & (ring->size_bytes - 1));
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
    ring->tail += ring->last_bytes;
    ring->last_bytes = 0;
    atomic_store_explicit(ring->told, ring->tail, memory_order_release);
}

void ring_skip(struct ring_reader *ring)
{
    ring->tail = atomic_load_explicit(ring->head, memory_order_acquire);
    ring->last_bytes = 0;
    atomic_store_explicit(ring->told, ring->tail, memory_order_release);
}
