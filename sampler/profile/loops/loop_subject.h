/*
 * loop_subject.h - one program, as the watcher sees it: its loops, and whether they all rest.
 *
 *   watcher (when) -> loop_subject_look -> feed_reader_loops.h -> watched_loop.h, for each loop
 *
 * When all its loops have been idle for a second the program is told so (loops_rest), and looked at once more: a
 * dispatch that began at that moment may have missed it. From then on it is not looked at until its next dispatch
 * stores 0 there and rings the bell. Loops that nobody wants watched ring too: that is heard at most once a second.
 *
 * Units      *_ns: CLOCK_MONOTONIC nanoseconds.
 * Ownership  loop_subject_new makes, loop_subject_free releases; the loops are known_loops.h's.
 * Threads    The watcher's, or whoever holds its lock. loop_subject_calls: any, without it.
 * Errors     loop_subject_new: 0 or -ISOSCOPE_NO_MEMORY. A loop without memory is not watched.
 */
#ifndef ISOSCOPE_LOOP_SUBJECT_H
#define ISOSCOPE_LOOP_SUBJECT_H

#include "known_loops.h"
#include "unwatched.h"

#include <stdatomic.h>

struct watcher;

struct loop_subject {
    struct loop_subject *next; /* the list of watcher.h */
    struct watcher *watcher;
    struct feed_reader *reader;
    uint64_t process_id;
    int32_t pid;
    struct subject *wall;        /* NULL: its threads cannot be looked at */
    struct unwatched *unwatched; /* NULL: nor these */
    _Atomic bool paused;         /* any thread: another program has its pid */

    struct watched_loop **loops; /* by entry of the feed; NULL: none there */
    uint32_t room;
    _Atomic bool rests;       /* the program has been told so */
    bool settled;             /* and nothing was missed */
    _Atomic uint64_t entries; /* what stood in the table at the last look */
    int64_t woken_ns;         /* when it was last seen awake */
    int64_t clocks_ns;        /* when the clocks of its threads were last read */
    int64_t looked_ns;        /* the last look at its loops; 0: none yet */
    bool alone;
    bool pings;       /* a loop that rests is to be pinged */
    bool all_threads; /* a full look is wanted */
};

/* What the looks of one turn share. */
struct loop_turn {
    struct known_loops *known;
    const struct stall_settings *settings;
    const struct loop_reports *reports;
    int64_t (*clock_ns)(void *context);
    void *clock_context;
    int64_t now_ns, late_ns;
    bool suspended;
    /* The CPU rule is broken by a thread. */
    void (*cpu_high)(struct watcher *watcher, uint64_t process_id, int32_t tid,
                     const struct cpu_use *use);
};

int loop_subject_new(struct loop_subject **out, struct feed_reader *reader, uint64_t process_id,
                     int32_t pid, struct subject *wall);
void loop_subject_free(struct loop_subject *subject);

/* Returns when it wants to be looked at again; INT64_MAX: when it calls. */
int64_t loop_subject_look(struct loop_subject *subject, const struct loop_turn *turn);
/* Its first dispatch is to ring. True: there is nothing to look at yet, as with most programs. */
bool loop_subject_begin(struct loop_subject *subject, int64_t now_ns);
/* It rested, and does no more; or its loops are other ones than at the last look. */
bool loop_subject_calls(const struct loop_subject *subject);
/* A loop that is pinged may have run. */
bool loop_subject_wants_ping(struct loop_subject *subject, const struct loop_turn *turn);
/* Which loops are watched, and their limits and names, are read anew. */
void loop_subject_refresh(struct loop_subject *subject, const struct loop_turn *turn);
/* All its loops end. */
void loop_subject_end(struct loop_subject *subject, const struct loop_turn *turn);

#endif
