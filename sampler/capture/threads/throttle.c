#include "throttle.h"

enum {
    TICKS_MIN = 4,   /* fewer say nothing */
    CALM_LOOKS = 10, /* before it is tried again with the shorter period */
};

void throttle_look(struct throttle *throttle)
{
    uint32_t shift = atomic_load_explicit(&throttle->shift, memory_order_relaxed);
    uint32_t ticks = atomic_exchange_explicit(&throttle->ticks, 0, memory_order_relaxed);
    uint64_t spent_ns = atomic_exchange_explicit(&throttle->spent_ns, 0, memory_order_relaxed);
    uint64_t handler_ns = atomic_exchange_explicit(&throttle->handler_ns, 0, memory_order_relaxed);

    if (ticks >= TICKS_MIN && 2 * handler_ns > spent_ns) {
        throttle->calm_looks = 0;
        shift += shift < THROTTLE_SHIFT_MAX;
    } else if (shift && ++throttle->calm_looks >= CALM_LOOKS) {
        throttle->calm_looks = 0;
        shift--;
    }
    atomic_store_explicit(&throttle->shift, shift, memory_order_relaxed);
}
