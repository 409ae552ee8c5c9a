#include "feed_loops.h"

#include "atomic_raise.h"
#include "feed_count.h"

#include <stddef.h>

SIGNAL_SAFE_INLINE bool claim(struct feed_loop *loop)
{
    uint32_t is_free = FEED_LOOP_FREE;

    return atomic_compare_exchange_strong_explicit(&loop->state, &is_free, FEED_LOOP_CLAIMED,
                                                   memory_order_acquire, memory_order_relaxed);
}

static SIGNAL_SAFE uint32_t claim_any(struct feed_writer *writer)
{
    for (uint32_t number = 1; number < FEED_LOOPS_MAX; number++)
        if (claim(&writer->loops[number]))
            return number;
    return 0;
}

/* What the loop before it left there is not believed to be this one's. */
static SIGNAL_SAFE void fill_in(struct feed_loop *loop, const struct feed_loop_start *start)
{
    uint32_t asked = atomic_load_explicit(&loop->ping_asked, memory_order_relaxed);

    atomic_fetch_add_explicit(&loop->generation, 1, memory_order_relaxed);
    atomic_store_explicit(&loop->mark, 0, memory_order_relaxed);
    atomic_store_explicit(&loop->progress, 0, memory_order_relaxed);
    atomic_store_explicit(&loop->end_asked, 0, memory_order_relaxed);
    atomic_store_explicit(&loop->ended_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&loop->note_base, 0, memory_order_relaxed);
    atomic_store_explicit(&loop->note_from, UINT64_MAX, memory_order_relaxed);
    atomic_store_explicit(&loop->noted_mark, 0, memory_order_relaxed);
    atomic_store_explicit(&loop->noted_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&loop->ping_posted, asked, memory_order_relaxed);
    atomic_store_explicit(&loop->ping_seen, asked, memory_order_relaxed);
    atomic_store_explicit(&loop->has_ping, 0, memory_order_relaxed);
    atomic_store_explicit(&loop->slot, start->slot, memory_order_relaxed);
    atomic_store_explicit(&loop->tid, start->tid, memory_order_relaxed);
    atomic_store_explicit(&loop->name, start->name, memory_order_relaxed);
    atomic_store_explicit(&loop->kind, start->kind, memory_order_relaxed);
    atomic_store_explicit(&loop->jank_ms, start->jank_ms, memory_order_relaxed);
    atomic_store_explicit(&loop->stall_ms, start->stall_ms, memory_order_relaxed);
    atomic_store_explicit(&loop->hang_ms, start->hang_ms, memory_order_relaxed);
    atomic_store_explicit(&loop->dead_ms, start->dead_ms, memory_order_relaxed);
}

struct feed_loop *feed_loops_begin(struct feed_writer *writer, const struct feed_loop_start *start)
{
    struct feed_status *status = &writer->header->status;
    uint32_t number = claim_any(writer);
    struct feed_loop *loop = &writer->loops[number];

    if (!number) {
        feed_count(&status->loops_lost, 1);
        return NULL;
    }
    fill_in(loop, start);
    atomic_store_explicit(&loop->state, FEED_LOOP_LIVE, memory_order_release);
    atomic_raise(&status->loops_used, number + 1);
    return loop;
}

void feed_loops_end(struct feed_loop *loop)
{
    atomic_store_explicit(&loop->state, FEED_LOOP_ENDED, memory_order_release);
}
