/*
 * loop_feed.h - a loop's entry in the feed that is there now: claimed, marked, ended.
 *
 *   loop_thread.h (learned loops), loop_table.h (registered ones) -> here -> feed (loops)
 *
 * A place in the feed is known under the feed's epoch (event_epoch.h): of another epoch, or in a child that was
 * forked without libc, it is not touched. isoscope_stop leaves that memory where it is for a while, for a thread
 * looks at the epoch first and then marks, without a barrier.
 *
 * Threads    One loop_place: its loop's thread.
 * Signals    SIGNAL_SAFE.
 */
#ifndef ISOSCOPE_LOOP_FEED_H
#define ISOSCOPE_LOOP_FEED_H

#include "../event_epoch.h"

#include "../../feed/feed_loops.h"

struct loop_place {
    uint32_t entered; /* ~ of the epoch whose entry this is; 0: none */
    uint32_t refused; /* ~ of the epoch that had no room for it */
    struct feed_loop *entry;
    struct feed_control *control;
};

/* For the loop of start->tid. False: there is no feed, or no room in it. start: slot and name are filled in
 * here. name: NULL or empty: its thread's. A forked child that has not begun does now. */
SIGNAL_SAFE bool loop_feed_claim(struct loop_place *place, struct feed_loop_start *start,
                                 const char *name);
/* The loop has ended, in the middle of whatever it did. */
SIGNAL_SAFE void loop_feed_end(struct loop_place *place);
/* sampler.watch_loops is what the service wants now. */
SIGNAL_SAFE void loop_feed_follow(void);

/* Where the service tells of pings; NULL: there is no feed. */
_Atomic uint32_t *loop_feed_pings(void);

/* The service sleeps, and is to look at loops again. */
SIGNAL_SAFE void loop_feed_wake(struct feed_control *control);
/* When this dispatch began is to be noted; mark: before it. */
SIGNAL_SAFE void loop_feed_note_begin(struct feed_loop *entry, uint64_t mark);
/* The dispatch that ends now is late, and when it ends is to be told. */
SIGNAL_SAFE void loop_feed_tell_end(struct feed_loop *entry);

/* Tried in this epoch, and refused. */
SIGNAL_SAFE_INLINE bool loop_place_is_refused(const struct loop_place *place)
{
    return place->refused == ~event_epoch_now();
}

SIGNAL_SAFE_INLINE bool loop_place_is_live(const struct loop_place *place)
{
    return place->entered == ~event_epoch_now();
}

SIGNAL_SAFE_INLINE uint32_t loop_place_watch(const struct loop_place *place)
{
    return atomic_load_explicit(&place->control->watch_loops, memory_order_relaxed);
}

/* A dispatch begins; or goes on, when one is under way. */
SIGNAL_SAFE_INLINE void loop_place_begin(const struct loop_place *place)
{
    struct feed_loop *entry = place->entry;
    uint64_t mark = atomic_load_explicit(&entry->mark, memory_order_relaxed);

    if (mark % 2 == 0) {
        atomic_store_explicit(&entry->mark, mark + 1, memory_order_release);
        if (__builtin_expect(mark >= atomic_load_explicit(&entry->note_from, memory_order_relaxed),
                             0))
            loop_feed_note_begin(entry, mark);
    }
    if (__builtin_expect(
            atomic_load_explicit(&place->control->loops_rest, memory_order_relaxed) != 0, 0))
        loop_feed_wake(place->control);
}

/* It ends, if there is one. */
SIGNAL_SAFE_INLINE void loop_place_end(const struct loop_place *place)
{
    struct feed_loop *entry = place->entry;
    uint64_t mark = atomic_load_explicit(&entry->mark, memory_order_relaxed);

    if (mark % 2 == 0)
        return;
    if (__builtin_expect(atomic_load_explicit(&entry->end_asked, memory_order_relaxed) == mark, 0))
        loop_feed_tell_end(entry);
    atomic_store_explicit(&entry->mark, mark + 1, memory_order_release);
}

#endif
