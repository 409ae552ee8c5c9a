#include "overload.h"

enum {
    TICKS_MIN = 4,   /* fewer say nothing */
    CALM_LOOKS = 10, /* before it is tried again with the shorter period */
};

void overload_look(struct load *load)
{
    uint32_t slowed = atomic_load_explicit(&load->slowed, memory_order_relaxed);
    uint32_t ticks = atomic_exchange_explicit(&load->ticks, 0, memory_order_relaxed);
    uint64_t spent_ns = atomic_exchange_explicit(&load->spent_ns, 0, memory_order_relaxed);
    uint64_t handler_ns = atomic_exchange_explicit(&load->handler_ns, 0, memory_order_relaxed);

    if (ticks >= TICKS_MIN && 2 * handler_ns > spent_ns) {
        load->calm_looks = 0;
        slowed += slowed < OVERLOAD_SLOWED_MAX;
    } else if (slowed && ++load->calm_looks >= CALM_LOOKS) {
        load->calm_looks = 0;
        slowed--;
    }
    atomic_store_explicit(&load->slowed, slowed, memory_order_relaxed);
}
