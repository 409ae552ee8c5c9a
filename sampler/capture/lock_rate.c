#include "lock_rate.h"

#include "sampler_state.h"

#include "../include/isoscope/locks.h"

#include <stdatomic.h>

ISOSCOPE_API uint32_t isoscope_waits_wanted;

static _Atomic uint32_t mean_us; /* what was wanted last; 0: nothing */
static uint32_t epochs;
static bool has_feed, has_calls;

static SIGNAL_SAFE void apply(void)
{
    bool samples = has_feed && atomic_load(&mean_us);

    epochs += samples;
    epochs += samples && !epochs;
    __atomic_store_n(&isoscope_waits_wanted, samples ? epochs : 0, __ATOMIC_RELEASE);
}

static SIGNAL_SAFE void set_mean(uint32_t us)
{
    if (us > FEED_LOCK_US_MAX)
        us = FEED_LOCK_US_MAX;
    if (us == atomic_load(&mean_us))
        return;
    atomic_store(&mean_us, us);
    apply();
}

void lock_rate_prepare(uint32_t us, bool seen)
{
    has_calls = seen;
    set_mean(us);
}

void lock_rate_begin(void)
{
    atomic_store_explicit(&sampler.writer.header->status.locks_seen, has_calls,
                          memory_order_relaxed);
    has_feed = true;
    apply();
}

void lock_rate_end(void)
{
    has_feed = false;
    apply();
}

void lock_rate_follow(bool read)
{
    const struct feed_control *control = &sampler.writer.header->control;

    if (!read)
        set_mean(0);
    else if (atomic_load_explicit(&control->changes, memory_order_acquire))
        set_mean(atomic_load_explicit(&control->enabled, memory_order_relaxed)
                     ? atomic_load_explicit(&control->lock_us, memory_order_relaxed)
                     : 0);
}

uint64_t lock_rate_mean_ns(void)
{
    return UINT64_C(1000) * atomic_load_explicit(&mean_us, memory_order_relaxed);
}
