#include "full_look.h"

#include "../wall/rounds.h"
#include "late_sample.h"

#include <stdatomic.h>

static bool lives(const struct round *round, uint32_t slot)
{
    return atomic_load_explicit(&round->writer->threads[slot].state, memory_order_acquire) ==
           FEED_THREAD_LIVE;
}

static bool look(struct round *round, uint32_t slot)
{
    struct sleeper once = { 0 };
    bool told =
        sleeper_meet(&once, round, slot) != SLEEPER_NOT_MET && late_sample_once(&once, round, slot);

    sleeper_forget(&once);
    return told;
}

int late_all_threads(struct subject *subject, int64_t now_ns)
{
    struct round *round = rounds_begin_look(subject, now_ns / 1000);
    bool no_switches = true; /* they would begin with this look, and tell nothing */
    uint32_t slots;
    int told = 0;

    if (!round)
        return 0;
    round->no_switches = &no_switches;
    slots = round_slots(round->writer);
    for (uint32_t slot = 1; slot < slots && slot < FULL_LOOK_SLOTS_MAX && told < FULL_LOOK_TOLD_MAX;
         slot++)
        told += lives(round, slot) && look(round, slot);
    rounds_end_look(subject);
    return told;
}
