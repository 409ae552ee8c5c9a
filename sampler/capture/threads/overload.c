#include "overload.h"

enum {
    TICKS_MIN = 4,   /* fewer say nothing */
    CALM_LOOKS = 10, /* before it is tried again with the shorter period */
    NS_A_QUEUED_SIGNAL =
        60,          /* what the kernel needs to step over one, where memory is far: 20 to 50 */
    SWITCH_PART = 8, /* of the thread's time at most for setting its timer */
    SWITCH_PART_SHORT = 4, /* where the period is so short that little helps but a far longer one */
    SWITCH_SHORT_TICKS = 8, /* a period is short, if so many are no kernel tick */
    SWITCH_SLOWED_MAX = 5,  /* seldom is better than never */
    SWITCHES_OLD_LOOKS = 30,
};

bool overload_suspected(const struct load *load)
{
    uint32_t ticks = atomic_load_explicit(&load->ticks, memory_order_relaxed);

    return atomic_load_explicit(&load->slowed, memory_order_relaxed) ||
           (ticks >= TICKS_MIN &&
            2 * atomic_load_explicit(&load->late, memory_order_relaxed) > ticks);
}

/* Who tells nothing for long sleeps, or gets no tick: then what was known grows old. */
static void learn_switches(struct load *load)
{
    uint64_t at_ns = atomic_load_explicit(&load->switches_at_ns, memory_order_acquire);
    uint32_t switches = atomic_load_explicit(&load->switches, memory_order_relaxed);
    uint64_t since_ns = at_ns - load->switches_seen_ns;

    if (!since_ns) {
        if (++load->switches_looks % SWITCHES_OLD_LOOKS == 0)
            load->switches_a_s /= 2;
        return;
    }
    if (load->switches_seen_ns)
        load->switches_a_s =
            (uint32_t)((switches - load->switches_seen) * UINT64_C(1000000000) / since_ns);
    load->switches_seen = switches;
    load->switches_seen_ns = at_ns;
    load->switches_looks = 0;
}

/* A thread leaves the processor anywhere in its period, and the next kernel tick is anywhere in
 * its own: the part of switches at which ours would come first, and has to be set. */
static bool switches_are_dear(const struct load *load, const struct overload_costs *costs,
                              uint32_t slowed)
{
    uint64_t period_us = (uint64_t)costs->period_us << slowed, tick_us = costs->tick_us;
    uint64_t ns_a_s = (uint64_t)load->switches_a_s * costs->switch_ns;
    bool is_short = SWITCH_SHORT_TICKS * (uint64_t)costs->period_us < tick_us;

    if (period_us > tick_us)
        ns_a_s = ns_a_s * tick_us / (2 * period_us);
    else if (tick_us)
        ns_a_s -= ns_a_s * period_us / (2 * tick_us);
    return slowed < SWITCH_SLOWED_MAX &&
           ns_a_s > 1000000000 / (is_short ? SWITCH_PART_SHORT : SWITCH_PART);
}

bool overload_look(struct load *load, const struct overload_costs *costs)
{
    uint32_t slowed = atomic_load_explicit(&load->slowed, memory_order_relaxed), before = slowed;
    uint32_t ticks = atomic_exchange_explicit(&load->ticks, 0, memory_order_relaxed);
    uint64_t spent_ns = atomic_exchange_explicit(&load->spent_ns, 0, memory_order_relaxed);
    uint64_t handler_ns = atomic_exchange_explicit(&load->handler_ns, 0, memory_order_relaxed);
    uint64_t asked_ns = costs->period_us * UINT64_C(1000);
    uint64_t least_ns = (uint64_t)costs->queued * NS_A_QUEUED_SIGNAL;
    bool dear = ticks >= TICKS_MIN && 2 * handler_ns > spent_ns;

    atomic_store_explicit(&load->late, 0, memory_order_relaxed);
    learn_switches(load);
    if (dear || asked_ns << slowed < least_ns || switches_are_dear(load, costs, slowed)) {
        load->calm_looks = 0;
        do
            slowed += slowed < OVERLOAD_SLOWED_MAX;
        while (slowed < OVERLOAD_SLOWED_MAX && asked_ns << slowed < least_ns);
    } else if (slowed && asked_ns << (slowed - 1) >= least_ns &&
               !switches_are_dear(load, costs, slowed - 1) && ++load->calm_looks >= CALM_LOOKS) {
        load->calm_looks = 0;
        slowed--;
    }
    atomic_store_explicit(&load->slowed, slowed, memory_order_relaxed);
    return slowed != before;
}
