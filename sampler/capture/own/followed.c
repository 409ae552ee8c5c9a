#include "followed.h"

#include "../address_filter.h"
#include "../own_rates.h"
#include "../sampler_state.h"

#include "../../feed/atomic_raise.h"
#include "../../feed/feed_allocations.h"
#include "../../feed/feed_count.h"

static _Atomic uint64_t numbers; /* given out */

SIGNAL_SAFE_INLINE struct feed_status *status_of_feed(void)
{
    return &sampler.writer.header->status;
}

static SIGNAL_SAFE void take_out_below(uint32_t level)
{
    uint32_t place = 0;
    uint64_t address;

    while ((address = feed_allocations_below(&sampler.writer, &place, level)))
        address_filter_count(address, false);
}

/* The level is told before the first one goes: the service reads it after it has seen one gone. One
 * thread at a time, so that what another one is just taking out is not counted as too many. */
static SIGNAL_SAFE void raise_level(uint32_t level)
{
    struct feed_status *status = status_of_feed();

    if (atomic_exchange_explicit(&status->allocations_thinned, 1, memory_order_acquire))
        return;
    atomic_raise(&status->allocations_level, level);
    take_out_below(level);
    atomic_store_explicit(&status->allocations_thinned, 0, memory_order_release);
}

/* The next one of which the half goes. */
static SIGNAL_SAFE uint32_t level_after(uint32_t level)
{
    uint32_t of_mean = 31 - (uint32_t)__builtin_clz(own_rates_mean_bytes() | 1);

    return (level > of_mean ? level : of_mean) + 1;
}

static SIGNAL_SAFE uint32_t level_now(void)
{
    uint32_t level =
        atomic_load_explicit(&status_of_feed()->allocations_level, memory_order_relaxed);
    uint32_t wanted =
        atomic_load_explicit(&sampler.writer.header->control.live_level, memory_order_relaxed);

    if (feed_allocations_count(&sampler.writer) >= FEED_FOLLOWED_MAX)
        wanted = level_after(level);
    if (wanted <= level)
        return level;
    raise_level(wanted);
    return atomic_load_explicit(&status_of_feed()->allocations_level, memory_order_relaxed);
}

/* First into the table: the service looks there when it has the sample. */
uint64_t followed_begin(uint64_t address, uint32_t level)
{
    uint64_t number, mark;

    if (level < level_now())
        return 0;
    number = atomic_fetch_add_explicit(&numbers, 1, memory_order_relaxed) + 1;
    address_filter_count(address, true);
    mark = feed_allocations_put(&sampler.writer, address, number, level);
    if (!mark) {
        address_filter_count(address, false);
        feed_count(&status_of_feed()->allocations_loose, 1);
    }
    return mark;
}

uint64_t followed_end(uint64_t address)
{
    uint64_t mark = feed_allocations_take(&sampler.writer, address);

    if (mark)
        address_filter_count(address, false);
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
    if (FEED_ALLOCATION_LEVEL(mark) < level_now())
        return;
    address_filter_count(address, true);
    feed_allocations_put_back(&sampler.writer, address, mark);
}
