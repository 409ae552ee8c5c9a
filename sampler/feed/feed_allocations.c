#include "feed_allocations.h"

#include "atomic_raise.h"

#include <stdatomic.h>
#include <stddef.h>

/* NULL: it cannot be mapped. */
SIGNAL_SAFE_INLINE struct feed_allocation *table_of(struct feed_writer *writer)
{
    if (!writer->event_rings.bytes || !part_reach(&writer->event_rings, 0))
        return NULL;
    return (struct feed_allocation *)part_at(&writer->event_rings, 0);
}

SIGNAL_SAFE_INLINE uint32_t places_used(const struct feed_writer *writer)
{
    uint32_t used =
        atomic_load_explicit(&writer->header->status.allocations_places, memory_order_relaxed);

    return used > FEED_ALLOCATIONS_FIRST ? used : FEED_ALLOCATIONS_FIRST;
}

/* The first place of the address' group in that step of the table: what the step has more than the one
 * before it. By other bits than in the first, so that those of a full group part. */
SIGNAL_SAFE_INLINE uint32_t group_at(uint64_t address, uint32_t places)
{
    uint32_t before = places > FEED_ALLOCATIONS_FIRST ? places / 2 : 0;
    uint32_t groups = (places - before) / FEED_ALLOCATION_GROUP; /* a power of two */
    uint64_t hash = (address >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> (before ? 32 : 48);

    return before + ((uint32_t)hash & (groups - 1)) * FEED_ALLOCATION_GROUP;
}

/* The mark last: who sees it sees its address. False: somebody else has the place. */
SIGNAL_SAFE_INLINE bool fill(struct feed_writer *writer, struct feed_allocation *place,
                             uint64_t address, uint64_t mark)
{
    uint64_t none = 0;

    if (!atomic_compare_exchange_strong_explicit(&place->address, &none, FEED_ALLOCATION_TAKEN,
                                                 memory_order_acquire, memory_order_relaxed))
        return false;
    atomic_store_explicit(&place->address, address, memory_order_relaxed);
    atomic_store_explicit(&place->mark, mark, memory_order_release);
    atomic_fetch_add_explicit(&writer->header->status.allocations_followed, 1,
                              memory_order_relaxed);
    return true;
}

/* While a mark stands, the address beside it does. False: somebody else has taken it. */
SIGNAL_SAFE_INLINE bool empty(struct feed_writer *writer, struct feed_allocation *place,
                              uint64_t mark)
{
    if (!atomic_compare_exchange_strong_explicit(&place->mark, &mark, 0, memory_order_acq_rel,
                                                 memory_order_relaxed))
        return false;
    atomic_store_explicit(&place->address, 0, memory_order_release);
    atomic_fetch_add_explicit(&writer->header->status.allocations_freed, 1, memory_order_release);
    return true;
}

/* The mark, if the place was the address' and is empty now. */
SIGNAL_SAFE_INLINE uint64_t take_at(struct feed_writer *writer, struct feed_allocation *place,
                                    uint64_t address)
{
    uint64_t mark = atomic_load_explicit(&place->mark, memory_order_acquire);

    if (!mark || atomic_load_explicit(&place->address, memory_order_relaxed) != address)
        return 0;
    return empty(writer, place, mark) ? mark : 0;
}

uint64_t feed_allocations_take(struct feed_writer *writer, uint64_t address)
{
    struct feed_allocation *table = table_of(writer);
    uint32_t used = places_used(writer);

    for (uint32_t step = FEED_ALLOCATIONS_FIRST; table && step <= used; step *= 2) {
        struct feed_allocation *group = &table[group_at(address, step)];

        for (uint32_t i = 0; i < FEED_ALLOCATION_GROUP; i++) {
            uint64_t mark = 0;

            if (atomic_load_explicit(&group[i].address, memory_order_relaxed) == address)
                mark = take_at(writer, &group[i], address);
            if (mark)
                return mark;
        }
    }
    return 0;
}

/* An address that is there already was freed behind our back: by another name, or by a child that
 * shares the memory. */
uint64_t feed_allocations_put(struct feed_writer *writer, uint64_t address, uint64_t number,
                              uint32_t level)
{
    struct feed_allocation *table = table_of(writer);

    feed_allocations_take(writer, address);
    for (uint32_t step = FEED_ALLOCATIONS_FIRST; table && step <= FEED_ALLOCATIONS; step *= 2) {
        uint32_t first = group_at(address, step);

        atomic_raise(&writer->header->status.allocations_places, step);
        for (uint32_t place = first; place < first + FEED_ALLOCATION_GROUP; place++) {
            uint64_t mark = FEED_ALLOCATION_MARK(number, level, place);

            if (fill(writer, &table[place], address, mark))
                return mark;
        }
    }
    return 0;
}

uint64_t feed_allocations_next(struct feed_writer *writer, uint32_t *place, uint64_t from,
                               uint64_t to)
{
    struct feed_allocation *table = table_of(writer);
    uint32_t used = places_used(writer);

    while (table && *place < used) {
        uint64_t address = atomic_load_explicit(&table[(*place)++].address, memory_order_relaxed);

        if (address > FEED_ALLOCATION_TAKEN && address >= from && address < to)
            return address;
    }
    return 0;
}

uint64_t feed_allocations_below(struct feed_writer *writer, uint32_t *place, uint32_t level)
{
    struct feed_allocation *table = table_of(writer);
    uint32_t used = places_used(writer);

    while (table && *place < used) {
        struct feed_allocation *at = &table[(*place)++];
        uint64_t mark = atomic_load_explicit(&at->mark, memory_order_acquire);
        uint64_t address = atomic_load_explicit(&at->address, memory_order_relaxed);

        if (mark && FEED_ALLOCATION_LEVEL(mark) < level && empty(writer, at, mark))
            return address;
    }
    return 0;
}

void feed_allocations_put_back(struct feed_writer *writer, uint64_t address, uint64_t mark)
{
    struct feed_allocation *table = table_of(writer);

    if (table)
        fill(writer, &table[FEED_ALLOCATION_PLACE(mark) % FEED_ALLOCATIONS], address, mark);
}

uint32_t feed_allocations_count(const struct feed_writer *writer)
{
    const struct feed_status *status = &writer->header->status;

    return atomic_load_explicit(&status->allocations_followed, memory_order_relaxed) -
           atomic_load_explicit(&status->allocations_freed, memory_order_relaxed);
}
