#include "followed.h"

#include "../allocation_rate.h"
#include "../sampler_state.h"

#include "../../feed/feed_allocations.h"
#include "../../feed/feed_count.h"

static _Atomic uint64_t numbers; /* given out */

/* First into the table: the service looks there when it has the sample. */
uint64_t followed_begin(uint64_t address)
{
    uint64_t number = atomic_fetch_add_explicit(&numbers, 1, memory_order_relaxed) + 1;
    uint64_t mark;

    allocation_rate_count(address, true);
    mark = feed_allocations_put(&sampler.writer, address, number);
    if (!mark) {
        allocation_rate_count(address, false);
        feed_count(&sampler.writer.header->status.allocations_loose, 1);
    }
    return mark;
}

uint64_t followed_end(uint64_t address)
{
    uint64_t mark = feed_allocations_take(&sampler.writer, address);

    if (mark)
        allocation_rate_count(address, false);
    return mark;
}

void followed_end_between(uint64_t from, uint64_t to)
{
    uint32_t place = 0;
    uint64_t address;

    while ((address = feed_allocations_next(&sampler.writer, &place, from, to)))
        followed_end(address);
}

void followed_again(uint64_t address, uint64_t mark)
{
    allocation_rate_count(address, true);
    feed_allocations_put_back(&sampler.writer, address, mark);
}
