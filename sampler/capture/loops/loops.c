/*
 * loops.c - the marks of isoscope/loop.h.
 *
 * A signal handler may come between any two of them with marks of the same loop, as long as it ends what it
 * begins: each looks at the words anew, and the depth is changed first.
 */
#include "loop_table.h"

/* Begins below it are of the dispatch that waits: a loop inside of it counts from there. */
SIGNAL_SAFE_INLINE uint32_t base_of(const struct isoscope_loop *loop)
{
    uint32_t idles = loop->idles < LOOP_IDLES_MAX ? loop->idles : LOOP_IDLES_MAX;

    return idles ? loop->idle_depths[idles - 1] : 0;
}

SIGNAL_SAFE_INLINE bool is_in(struct isoscope_loop *loop)
{
    return __builtin_expect(loop_place_is_live(&loop->place), 1) || loop_table_enter(loop);
}

SIGNAL_SAFE void isoscope_loop_begin(struct isoscope_loop *loop)
{
    if (!loop)
        return;
    loop->depth++;
    if (loop->depth == base_of(loop) + 1 && is_in(loop))
        loop_place_begin(&loop->place);
}

SIGNAL_SAFE void isoscope_loop_end(struct isoscope_loop *loop)
{
    if (!loop || loop->depth == base_of(loop))
        return;
    if (loop->depth == base_of(loop) + 1 && is_in(loop))
        loop_place_end(&loop->place);
    loop->depth--;
}

SIGNAL_SAFE void isoscope_loop_idle_enter(struct isoscope_loop *loop)
{
    if (!loop)
        return;
    if (loop->idles < LOOP_IDLES_MAX)
        loop->idle_depths[loop->idles] = loop->depth;
    loop->idles++;
    if (is_in(loop))
        loop_place_end(&loop->place);
}

/* What was begun meanwhile, and has not ended, is forgotten. */
SIGNAL_SAFE void isoscope_loop_idle_leave(struct isoscope_loop *loop)
{
    if (!loop || !loop->idles)
        return;
    loop->depth = base_of(loop);
    loop->idles--;
    if (loop->depth && is_in(loop))
        loop_place_begin(&loop->place);
}

SIGNAL_SAFE void isoscope_loop_progress(struct isoscope_loop *loop)
{
    if (loop && is_in(loop))
        atomic_fetch_add_explicit(&loop->place.entry->progress, 1, memory_order_relaxed);
}
