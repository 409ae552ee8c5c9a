#include "own_rates.h"

#include "address_filter.h"
#include "sampler_state.h"

#include "../include/isoscope/locks.h"

#include <stdatomic.h>

/* What is sampled once in so many units. */
struct rate {
    uint32_t *told; /* what threads look at */
    uint32_t least, most, epochs;
    _Atomic uint32_t mean; /* what was wanted last; 0: nothing */
};

/* A sanitizer keeps its own books of allocations, and expects to be asked by the program itself. */
extern char __asan_init __attribute__((weak));
extern char __msan_init __attribute__((weak));
extern char __tsan_init __attribute__((weak));
extern char __hwasan_init __attribute__((weak));

uint32_t own_rates_epoch;
ISOSCOPE_API uint32_t isoscope_waits_wanted;

static struct rate allocations = { .told = &own_rates_epoch,
                                   .least = FEED_ALLOCATION_BYTES_MIN,
                                   .most = FEED_ALLOCATION_BYTES_MAX };
static struct rate waits = { .told = &isoscope_waits_wanted,
                             .least = FEED_LOCK_US_MIN,
                             .most = FEED_LOCK_US_MAX };
static uint32_t allocations_seen; /* feed_allocations_seen */
static bool waits_seen, has_feed;

static SIGNAL_SAFE void tell(struct rate *rate)
{
    bool samples = has_feed && atomic_load(&rate->mean);

    if (samples && rate == &allocations)
        samples = allocations_seen != FEED_ALLOCATIONS_SANITIZED && address_filter_reach();
    rate->epochs += samples;
    rate->epochs += samples && !rate->epochs;
    __atomic_store_n(rate->told, samples ? rate->epochs : 0, __ATOMIC_RELEASE);
}

static SIGNAL_SAFE void set(struct rate *rate, uint32_t mean)
{
    if (mean && mean < rate->least)
        mean = rate->least;
    if (mean > rate->most)
        mean = rate->most;
    if (mean == atomic_load(&rate->mean))
        return;
    atomic_store(&rate->mean, mean);
    tell(rate);
}

void own_rates_prepare_allocations(uint32_t mean_bytes, uint8_t *filter, bool own)
{
    bool sanitized = &__asan_init || &__msan_init || &__tsan_init || &__hwasan_init;

    address_filter_give(filter);
    allocations_seen = sanitized ? FEED_ALLOCATIONS_SANITIZED
                       : !filter ? FEED_ALLOCATIONS_UNSEEN
                       : own     ? FEED_ALLOCATIONS_OWN
                                 : FEED_ALLOCATIONS_SEEN;
    set(&allocations, mean_bytes);
}

void own_rates_prepare_waits(uint32_t mean_us, bool seen)
{
    waits_seen = seen;
    set(&waits, mean_us);
}

void own_rates_begin(void)
{
    struct feed_status *status = &sampler.writer.header->status;

    atomic_store_explicit(&status->allocations_seen, allocations_seen, memory_order_relaxed);
    atomic_store_explicit(&status->locks_seen, waits_seen, memory_order_relaxed);
    address_filter_clear();
    has_feed = true;
    tell(&allocations);
    tell(&waits);
}

void own_rates_end(void)
{
    has_feed = false;
    tell(&allocations);
    tell(&waits);
}

static SIGNAL_SAFE void follow(struct rate *rate, const _Atomic uint32_t *wanted, bool read)
{
    const struct feed_control *control = &sampler.writer.header->control;

    if (!read)
        set(rate, 0);
    else if (atomic_load_explicit(&control->changes, memory_order_acquire))
        set(rate, atomic_load_explicit(&control->enabled, memory_order_relaxed)
                      ? atomic_load_explicit(wanted, memory_order_relaxed)
                      : 0);
}

void own_rates_follow(bool read)
{
    const struct feed_control *control = &sampler.writer.header->control;

    follow(&allocations, &control->allocation_bytes, read);
    follow(&waits, &control->lock_us, read);
}

uint32_t own_rates_mean_bytes(void)
{
    return atomic_load_explicit(&allocations.mean, memory_order_relaxed);
}

uint64_t own_rates_mean_ns(void)
{
    return UINT64_C(1000) * atomic_load_explicit(&waits.mean, memory_order_relaxed);
}
