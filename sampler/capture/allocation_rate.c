#include "allocation_rate.h"

#include "sampler_state.h"
#include "system/pages.h"

#include "../include/isoscope/memory.h"

#include <stdatomic.h>

ISOSCOPE_API const uint8_t *isoscope_memory_filter;
_Atomic uint32_t allocation_epoch;

/* A sanitizer keeps its own books of allocations, and expects to be asked by the program itself. */
extern char __asan_init __attribute__((weak));
extern char __msan_init __attribute__((weak));
extern char __tsan_init __attribute__((weak));
extern char __hwasan_init __attribute__((weak));

static _Atomic uint32_t mean; /* what was wanted last; 0: nothing */
static uint32_t epochs;
static bool has_feed;
static uint32_t seen;         /* feed_allocations_seen */
static uint8_t *ready_filter; /* NULL: there is none yet */

enum { COUNTER_FULL = UINT8_MAX }; /* it stays there */

static SIGNAL_SAFE uint8_t *filter(void)
{
    return (uint8_t *)__atomic_load_n(&isoscope_memory_filter, __ATOMIC_ACQUIRE);
}

static SIGNAL_SAFE bool reach_filter(void)
{
    uint8_t *made = filter();

    if (!made)
        made = ready_filter ? ready_filter : pages_new(ISOSCOPE_MEMORY_FILTER);
    __atomic_store_n(&isoscope_memory_filter, made, __ATOMIC_RELEASE);
    return made != NULL;
}

static SIGNAL_SAFE void apply(void)
{
    bool samples =
        has_feed && atomic_load(&mean) && seen != FEED_ALLOCATIONS_SANITIZED && reach_filter();

    epochs += samples;
    epochs += samples && !epochs;
    atomic_store(&allocation_epoch, samples ? epochs : 0);
}

static SIGNAL_SAFE void set_mean(uint32_t mean_bytes)
{
    if (mean_bytes && mean_bytes < FEED_ALLOCATION_BYTES_MIN)
        mean_bytes = FEED_ALLOCATION_BYTES_MIN;
    if (mean_bytes > FEED_ALLOCATION_BYTES_MAX)
        mean_bytes = FEED_ALLOCATION_BYTES_MAX;
    if (mean_bytes == atomic_load(&mean))
        return;
    atomic_store(&mean, mean_bytes);
    apply();
}

void allocation_rate_prepare(uint32_t mean_bytes, uint8_t *seen_by, bool own)
{
    bool sanitized = &__asan_init || &__msan_init || &__tsan_init || &__hwasan_init;

    if (seen_by && filter() != seen_by) /* it has come later than a filter of ours */
        __atomic_store_n(&isoscope_memory_filter, NULL, __ATOMIC_RELEASE);
    ready_filter = seen_by;
    seen = !seen_by ? FEED_ALLOCATIONS_UNSEEN : own ? FEED_ALLOCATIONS_OWN : FEED_ALLOCATIONS_SEEN;
    if (sanitized)
        seen = FEED_ALLOCATIONS_SANITIZED;
    set_mean(mean_bytes);
}

void allocation_rate_begin(void)
{
    atomic_store_explicit(&sampler.writer.header->status.allocations_seen, seen,
                          memory_order_relaxed);
    if (filter())
        pages_forget(filter(), ISOSCOPE_MEMORY_FILTER);
    has_feed = true;
    apply();
}

void allocation_rate_end(void)
{
    has_feed = false;
    apply();
}

void allocation_rate_follow(bool read)
{
    const struct feed_control *control = &sampler.writer.header->control;

    if (!read)
        set_mean(0);
    else if (atomic_load_explicit(&control->changes, memory_order_acquire))
        set_mean(atomic_load_explicit(&control->enabled, memory_order_relaxed)
                     ? atomic_load_explicit(&control->allocation_bytes, memory_order_relaxed)
                     : 0);
}

uint32_t allocation_rate_mean(void)
{
    return atomic_load_explicit(&mean, memory_order_relaxed);
}

static SIGNAL_SAFE void count_at(uint8_t *counter, bool lives)
{
    uint8_t count = __atomic_load_n(counter, __ATOMIC_RELAXED), next;

    do {
        if (count == COUNTER_FULL || (!lives && !count))
            return;
        next = (uint8_t)(lives ? count + 1 : count - 1);
    } while (!__atomic_compare_exchange_n(counter, &count, next, true, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
}

void allocation_rate_count(uint64_t address, bool lives)
{
    uint64_t mixed = isoscope_memory_mixed((const void *)address);

    count_at(filter() + isoscope_memory_near(mixed), lives);
    count_at(filter() + isoscope_memory_far(mixed), lives);
}
