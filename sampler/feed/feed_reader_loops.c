#include "feed_reader_loops.h"

#include "feed_reader_state.h"
#include "sys.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>

#define RELAXED(word) atomic_load_explicit(&(word), memory_order_relaxed)

uint32_t feed_reader_loops(const struct feed_reader *reader)
{
    uint32_t used = atomic_load_explicit(&reader->shared->status.loops_used, memory_order_acquire);

    return used < reader->layout.loop_capacity ? used : reader->layout.loop_capacity;
}

/* NULL: no loop stands there. */
static struct feed_loop *entry_at(const struct feed_reader *reader, uint32_t number)
{
    return number > 0 && number < reader->layout.loop_capacity ? &reader->loops[number] : NULL;
}

static struct feed_loop *loop_at(const struct feed_reader *reader, uint32_t number,
                                 enum feed_loop_state *state)
{
    struct feed_loop *loop = entry_at(reader, number);
    uint32_t now = loop ? atomic_load_explicit(&loop->state, memory_order_acquire) : FEED_LOOP_FREE;

    *state = (enum feed_loop_state)now;
    return now == FEED_LOOP_LIVE || now == FEED_LOOP_ENDED ? loop : NULL;
}

bool feed_reader_loop(const struct feed_reader *reader, uint32_t number, struct feed_loop_view *out)
{
    enum feed_loop_state state;
    const struct feed_loop *loop = loop_at(reader, number, &state);
    uint32_t kind = loop ? RELAXED(loop->kind) : FEED_LOOP_KIND_COUNT;
    uint32_t slot;

    if (kind >= FEED_LOOP_KIND_COUNT)
        return false;
    slot = RELAXED(loop->slot);
    *out = (struct feed_loop_view){
        .state = state,
        .generation = RELAXED(loop->generation),
        .slot = slot < reader->layout.thread_capacity ? slot : 0,
        .tid = RELAXED(loop->tid),
        .kind = (enum feed_loop_kind)kind,
        .has_ping = RELAXED(loop->has_ping) != 0,
        .limits_ms = { RELAXED(loop->jank_ms), RELAXED(loop->stall_ms), RELAXED(loop->hang_ms),
                       RELAXED(loop->dead_ms) },
    };
    if (!feed_reader_copy_name(reader, RELAXED(loop->name), out->name))
        out->name[0] = 0;
    return true;
}

/* The program may be storing the next one. */
static void read_noted(const struct feed_loop *loop, struct feed_loop_marks *out)
{
    out->noted_mark = atomic_load_explicit(&loop->noted_mark, memory_order_acquire);
    out->noted_ns = atomic_load_explicit(&loop->noted_ns, memory_order_acquire);
    if (RELAXED(loop->noted_mark) != out->noted_mark)
        out->noted_mark = 0;
    if (!out->noted_mark)
        out->noted_ns = 0;
}

bool feed_reader_loop_marks(const struct feed_reader *reader, uint32_t number,
                            struct feed_loop_marks *out)
{
    enum feed_loop_state state;
    const struct feed_loop *loop = loop_at(reader, number, &state);

    if (!loop)
        return false;
    out->state = state;
    out->generation = RELAXED(loop->generation);
    out->mark = atomic_load_explicit(&loop->mark, memory_order_acquire);
    out->ended_ns = RELAXED(loop->ended_ns);
    read_noted(loop, out);
    out->progress = RELAXED(loop->progress);
    out->ping_asked = RELAXED(loop->ping_asked);
    out->ping_posted = RELAXED(loop->ping_posted);
    out->ping_seen = RELAXED(loop->ping_seen);
    return true;
}

void feed_reader_loop_ask_end(struct feed_reader *reader, uint32_t number, uint64_t mark)
{
    struct feed_loop *loop = entry_at(reader, number);

    if (loop)
        atomic_store_explicit(&loop->end_asked, mark, memory_order_release);
}

/* An idle loop's words are not written again. */
void feed_reader_loop_note_begins(struct feed_reader *reader, uint32_t number, uint64_t mark)
{
    struct feed_loop *loop = entry_at(reader, number);

    if (!loop || (RELAXED(loop->note_base) == mark && RELAXED(loop->note_from) == mark))
        return;
    atomic_store_explicit(&loop->note_base, mark, memory_order_relaxed);
    atomic_store_explicit(&loop->note_from, mark, memory_order_release);
}

/* The program's thread looks at all loops when it wakes: one word for all is enough to sleep on. */
void feed_reader_loop_ping(struct feed_reader *reader, uint32_t number)
{
    struct feed_loop *loop = entry_at(reader, number);
    _Atomic uint32_t *pings = &reader->shared->control.pings;

    if (!loop)
        return;
    atomic_fetch_add_explicit(&loop->ping_asked, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(pings, 1, memory_order_release);
    sys_futex(pings, FUTEX_WAKE, INT_MAX, NULL);
}

void feed_reader_loop_recycle(struct feed_reader *reader, uint32_t number)
{
    struct feed_loop *loop = entry_at(reader, number);
    uint32_t ended = FEED_LOOP_ENDED;

    if (loop)
        atomic_compare_exchange_strong_explicit(&loop->state, &ended, FEED_LOOP_FREE,
                                                memory_order_release, memory_order_relaxed);
}

void feed_reader_watch_loops(struct feed_reader *reader, enum feed_watch watch)
{
    atomic_store_explicit(&reader->shared->control.watch_loops, watch, memory_order_relaxed);
    feed_reader_told(reader);
}

void feed_reader_loops_rest(struct feed_reader *reader)
{
    atomic_store(&reader->shared->control.loops_rest, 1);
}

bool feed_reader_loops_resting(const struct feed_reader *reader, int64_t *woken_ns)
{
    const struct feed_control *control = &reader->shared->control;

    if (atomic_load_explicit(&control->loops_rest, memory_order_acquire) == 1)
        return true;
    *woken_ns = RELAXED(control->loops_woken_ns);
    return false;
}

void feed_reader_loops_wake(struct feed_reader *reader)
{
    atomic_store(&reader->shared->control.loops_rest, 0);
}
