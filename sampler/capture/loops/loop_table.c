#include "loop_table.h"

#include "../system/pages.h"

#include <stddef.h>
#include <string.h>

enum { TABLE_LOOPS = FEED_LOOPS_MAX - 1 };

static struct isoscope_loop *_Atomic table;
static _Atomic uint32_t oldest; /* where the search for an ended one begins */
static _Atomic uint32_t numbers;

static size_t table_bytes(void)
{
    return pages_whole(TABLE_LOOPS * sizeof(struct isoscope_loop));
}

/* Made when it is wanted: most programs register none. */
static struct isoscope_loop *reach_table(void)
{
    struct isoscope_loop *none = NULL, *made;

    if (atomic_load(&table))
        return atomic_load(&table);
    made = pages_new(table_bytes());
    if (made && !atomic_compare_exchange_strong(&table, &none, made))
        pages_free(made, table_bytes());
    return atomic_load(&table);
}

static bool claim(struct isoscope_loop *loop, uint32_t from)
{
    return atomic_compare_exchange_strong(&loop->state, &from, LOOP_CLAIMED);
}

static struct isoscope_loop *claim_any(void)
{
    struct isoscope_loop *loops = reach_table();

    for (uint32_t i = 0; loops && i < TABLE_LOOPS; i++)
        if (claim(&loops[i], LOOP_FREE))
            return &loops[i];
    for (uint32_t i = 0; loops && i < TABLE_LOOPS; i++) {
        struct isoscope_loop *loop = &loops[atomic_fetch_add(&oldest, 1) % TABLE_LOOPS];

        if (claim(loop, LOOP_ENDED))
            return loop;
    }
    return NULL;
}

static void fill_in(struct isoscope_loop *loop, const char *name,
                    const struct isoscope_loop_options *options)
{
    loop->place = (struct loop_place){ 0 };
    loop->depth = loop->idles = 0;
    loop->post = NULL;
    loop->refused = 0;
    loop->tid = sys_gettid();
    loop->start = (struct feed_loop_start){ .kind = FEED_LOOP_REGISTERED, .tid = loop->tid };
    if (options) {
        loop->start.jank_ms = options->jank_ms;
        loop->start.stall_ms = options->stall_ms;
        loop->start.hang_ms = options->hang_ms;
        loop->start.dead_ms = options->dead_ms;
    }
    memset(loop->name, 0, sizeof loop->name);
    if (name)
        strncpy(loop->name, name, FEED_NAME_MAX);
    atomic_store(&loop->entering, 0);
    atomic_store(&loop->number, atomic_fetch_add(&numbers, 1) + 1);
}

struct isoscope_loop *loop_table_add(const char *name, const struct isoscope_loop_options *options)
{
    struct isoscope_loop *loop = claim_any();

    if (!loop)
        return NULL;
    fill_in(loop, name, options);
    if (!loop_feed_claim(&loop->place, &loop->start, loop->name)) {
        atomic_store(&loop->state, LOOP_FREE);
        return NULL;
    }
    atomic_store(&loop->state, LOOP_LIVE);
    return loop;
}

bool loop_table_end(struct isoscope_loop *loop, enum loop_state to)
{
    if (claim(loop, LOOP_LIVE)) {
        loop_feed_end(&loop->place);
        atomic_store(&loop->state, to);
        return true;
    }
    if (to == LOOP_FREE && claim(loop, LOOP_ENDED))
        atomic_store(&loop->state, LOOP_FREE);
    return false;
}

uint32_t loop_table_place(const struct isoscope_loop *loop)
{
    return (uint32_t)(loop - atomic_load(&table));
}

struct isoscope_loop *loop_table_next(uint32_t from, int32_t tid)
{
    struct isoscope_loop *loops = atomic_load(&table);

    for (uint32_t i = from; loops && i < TABLE_LOOPS; i++)
        if (loop_table_is_live(&loops[i]) && (!tid || loops[i].tid == tid))
            return &loops[i];
    return NULL;
}

void loop_table_end_all(int32_t tid)
{
    struct isoscope_loop *loop = NULL;
    uint32_t from = 0;

    while ((loop = loop_table_next(from, tid))) {
        from = loop_table_place(loop) + 1;
        loop_table_end(loop, LOOP_ENDED);
    }
}

/* Another thread of the parent's may have been in the middle of adding one. */
void loop_table_forget_parent(void)
{
    struct isoscope_loop *loops = atomic_load(&table);

    for (uint32_t i = 0; loops && i < TABLE_LOOPS; i++) {
        uint32_t state = atomic_load(&loops[i].state);

        if (state == LOOP_FREE)
            continue;
        loops[i].place.entered = 0;
        loops[i].post = NULL;
        atomic_store(&loops[i].state, state == LOOP_CLAIMED ? LOOP_FREE : LOOP_ENDED);
    }
}

/* One at a time: the loop's thread and the one for pings may both come here. */
bool loop_table_enter(struct isoscope_loop *loop)
{
    uint32_t nobody = 0;

    if (loop_place_is_live(&loop->place))
        return true;
    if (!loop_table_is_live(loop) || loop_place_is_refused(&loop->place) ||
        !atomic_compare_exchange_strong(&loop->entering, &nobody, 1))
        return false;
    if (!loop_place_is_live(&loop->place))
        loop_feed_claim(&loop->place, &loop->start, loop->name);
    atomic_store(&loop->entering, 0);
    if (loop_place_is_live(&loop->place) && loop->post)
        atomic_store(&loop->place.entry->has_ping, 1);
    return loop_place_is_live(&loop->place);
}
