#include "feed_allocations.h"

#include <stdatomic.h>
#include <stddef.h>

/* NULL: it cannot be mapped. */
SIGNAL_SAFE_INLINE struct feed_allocation *table_of(struct feed_writer *writer)
{
    if (!writer->event_rings.bytes || !part_reach(&writer->event_rings, 0))
        return NULL;
    return (struct feed_allocation *)part_at(&writer->event_rings, 0);
}

/* Allocators give out multiples of 16. */
SIGNAL_SAFE_INLINE uint32_t first_place(uint64_t address)
{
    return (uint32_t)((address >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 48) % FEED_ALLOCATIONS;
}

SIGNAL_SAFE_INLINE uint32_t place_after(uint32_t first, uint32_t steps)
{
    return (first + steps) % FEED_ALLOCATIONS;
}

/* False: somebody else has the place. */
SIGNAL_SAFE_INLINE bool fill(struct feed_allocation *place, uint64_t address, uint64_t mark)
{
    uint64_t none = 0;

    if (!atomic_compare_exchange_strong_explicit(&place->address, &none, FEED_ALLOCATION_TAKEN,
                                                 memory_order_acquire, memory_order_relaxed))
        return false;
    atomic_store_explicit(&place->mark, mark, memory_order_relaxed);
    atomic_store_explicit(&place->address, address, memory_order_release);
    return true;
}

SIGNAL_SAFE_INLINE uint64_t empty(struct feed_writer *writer, struct feed_allocation *place)
{
    uint64_t mark = atomic_exchange_explicit(&place->mark, 0, memory_order_relaxed);

    atomic_store_explicit(&place->address, 0, memory_order_release);
    atomic_fetch_add_explicit(&writer->header->status.allocations_freed, 1, memory_order_release);
    return mark;
}

uint64_t feed_allocations_take(struct feed_writer *writer, uint64_t address)
{
    struct feed_allocation *table = table_of(writer);
    uint32_t first = first_place(address);

    for (uint32_t i = 0; table && i < FEED_ALLOCATION_PLACES; i++) {
        struct feed_allocation *place = &table[place_after(first, i)];

        if (atomic_load_explicit(&place->address, memory_order_relaxed) == address)
            return empty(writer, place);
    }
    return 0;
}

/* An address that is there already was freed behind our back: by another name, or by a child that
 * shares the memory. */
uint64_t feed_allocations_put(struct feed_writer *writer, uint64_t address, uint64_t number)
{
    struct feed_allocation *table = table_of(writer);
    uint32_t first = first_place(address);

    feed_allocations_take(writer, address);
    for (uint32_t i = 0; table && i < FEED_ALLOCATION_PLACES; i++) {
        uint32_t place = place_after(first, i);

        if (fill(&table[place], address, FEED_ALLOCATION_MARK(number, place)))
            return FEED_ALLOCATION_MARK(number, place);
    }
    return 0;
}

uint64_t feed_allocations_next(struct feed_writer *writer, uint32_t *place, uint64_t from,
                               uint64_t to)
{
    struct feed_allocation *table = table_of(writer);

    while (table && *place < FEED_ALLOCATIONS) {
        uint64_t address = atomic_load_explicit(&table[(*place)++].address, memory_order_relaxed);

        if (address > FEED_ALLOCATION_TAKEN && address >= from && address < to)
            return address;
    }
    return 0;
}

void feed_allocations_put_back(struct feed_writer *writer, uint64_t address, uint64_t mark)
{
    struct feed_allocation *table = table_of(writer);

    if (table)
        fill(&table[FEED_ALLOCATION_PLACE(mark) % FEED_ALLOCATIONS], address, mark);
}
