#include "overload.h"

enum {
    TICKS_MIN = 4,   /* fewer say nothing */
    CALM_LOOKS = 10, /* before it is tried again with the shorter period */
    NS_A_QUEUED_SIGNAL =
        60, /* what the kernel needs to step over one, where memory is far: 20 to 50 */
};

bool overload_suspected(const struct load *load)
{
    uint32_t ticks = atomic_load_explicit(&load->ticks, memory_order_relaxed);

    return atomic_load_explicit(&load->slowed, memory_order_relaxed) ||
           (ticks >= TICKS_MIN &&
            2 * atomic_load_explicit(&load->late, memory_order_relaxed) > ticks);
}

bool overload_look(struct load *load, uint32_t period_us, uint32_t queued)
{
    uint32_t slowed = atomic_load_explicit(&load->slowed, memory_order_relaxed), before = slowed;
    uint32_t ticks = atomic_exchange_explicit(&load->ticks, 0, memory_order_relaxed);
    uint64_t spent_ns = atomic_exchange_explicit(&load->spent_ns, 0, memory_order_relaxed);
    uint64_t handler_ns = atomic_exchange_explicit(&load->handler_ns, 0, memory_order_relaxed);
    uint64_t period_ns = ((uint64_t)period_us << slowed) * 1000;
    uint64_t least_ns = (uint64_t)queued * NS_A_QUEUED_SIGNAL;
    bool dear = ticks >= TICKS_MIN && 2 * handler_ns > spent_ns;

    atomic_store_explicit(&load->late, 0, memory_order_relaxed);
    if (dear || period_ns < least_ns) {
        load->calm_looks = 0;
        do
            slowed += slowed < OVERLOAD_SLOWED_MAX;
        while (slowed < OVERLOAD_SLOWED_MAX && ((uint64_t)period_us << slowed) * 1000 < least_ns);
    } else if (slowed && period_ns / 2 >= least_ns && ++load->calm_looks >= CALM_LOOKS) {
        load->calm_looks = 0;
        slowed--;
    }
    atomic_store_explicit(&load->slowed, slowed, memory_order_relaxed);
    return slowed != before;
}
