#include "loop_feed.h"

#include "../forked.h"
#include "../sampler_state.h"
#include "../system/clock.h"

#include <stddef.h>

static SIGNAL_SAFE void take_entry(struct loop_place *place, struct feed_loop_start *start,
                                   const char *name, uint32_t epoch)
{
    start->slot = start->tid == sys_gettid() ? threads_slot_of_tick(&sampler.threads, sampler.pid)
                                             : threads_find(&sampler.threads, start->tid);
    start->name = name ? feed_writer_name(&sampler.writer, name) : 0;
    place->entry = feed_loops_begin(&sampler.writer, start);
    place->control = &sampler.writer.header->control;
    /* Last: the thread for pings may enter a loop that its own thread marks. */
    __atomic_store_n(&place->entered, place->entry ? ~epoch : 0, __ATOMIC_RELEASE);
}

bool loop_feed_claim(struct loop_place *place, struct feed_loop_start *start, const char *name)
{
    uint32_t epoch;

    place->entered = 0;
    forked_begin_at_tick();
    if (sampler_enter()) {
        epoch = event_epoch_reach() ? event_epoch_now() : 0;
        if (epoch)
            take_entry(place, start, name, epoch);
        sampler_leave();
    }
    place->refused = place->entered ? 0 : ~event_epoch_now();
    return place->entered != 0;
}

void loop_feed_end(struct loop_place *place)
{
    if (place->entered && loop_place_is_live(place) && sampler_enter()) {
        loop_place_end(place);
        feed_loops_end(place->entry);
        sampler_leave();
    }
    place->entered = 0;
}

void loop_feed_follow(void)
{
    if (!sampler_enter())
        return;
    sampler_follow_watch();
    sampler_leave();
}

_Atomic uint32_t *loop_feed_pings(void)
{
    _Atomic uint32_t *pings;

    if (!sampler_enter())
        return NULL;
    pings = &sampler.writer.header->control.pings;
    sampler_leave();
    return pings;
}

void loop_feed_wake(struct feed_control *control)
{
    if (!atomic_exchange(&control->loops_rest, 0) || !sampler_enter())
        return;
    atomic_store_explicit(&control->loops_woken_ns, (int64_t)clock_ns(CLOCK_MONOTONIC),
                          memory_order_release);
    sampler_ask_service();
    sampler_leave();
}

/* The service may ask anew meanwhile: its word stays. Those that are noted are a fourth of all so far apart. */
static SIGNAL_SAFE void ask_for_next(struct feed_loop *entry, uint64_t mark)
{
    uint64_t from = atomic_load_explicit(&entry->note_from, memory_order_acquire);
    uint64_t base = atomic_load_explicit(&entry->note_base, memory_order_relaxed);
    uint64_t begins = mark > base ? (mark - base) / 2 + 1 : 1;
    uint64_t skipped = begins < 8 ? 1 : (UINT64_C(1) << (61 - __builtin_clzll(begins)));

    if (from <= mark)
        atomic_compare_exchange_strong_explicit(&entry->note_from, &from, mark + 2 * skipped,
                                                memory_order_relaxed, memory_order_relaxed);
}

void loop_feed_note_begin(struct feed_loop *entry, uint64_t mark)
{
    if (!sampler_enter())
        return;
    ask_for_next(entry, mark);
    atomic_store_explicit(&entry->noted_mark, 0, memory_order_relaxed);
    atomic_store_explicit(&entry->noted_ns, (int64_t)clock_ns(CLOCK_MONOTONIC),
                          memory_order_release);
    atomic_store_explicit(&entry->noted_mark, mark + 1, memory_order_release);
    sampler_leave();
}

void loop_feed_tell_end(struct feed_loop *entry)
{
    if (!sampler_enter())
        return;
    atomic_store_explicit(&entry->ended_ns, (int64_t)clock_ns(CLOCK_MONOTONIC),
                          memory_order_relaxed);
    sampler_leave();
}
