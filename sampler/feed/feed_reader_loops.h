/*
 * feed_reader_loops.h - the service's side of a feed's table of loops.
 *
 *   capture/loops (marks) -> feed -> here -> profile/loops (the watcher)
 *
 * Everything that comes out is copied and checked. Of words that change with each dispatch any value is
 * possible, also one that goes back: the program may scribble.
 *
 * Threads    Any, at the same time as the reader's other calls. What one loop is told: one thread at a time.
 */
#ifndef ISOSCOPE_FEED_READER_LOOPS_H
#define ISOSCOPE_FEED_READER_LOOPS_H

#include "feed_reader.h"

/* In the order of feed_loop's limits. */
enum { FEED_LOOP_LIMITS = 4 };

/* What a loop is: it changes seldom. */
struct feed_loop_view {
    enum feed_loop_state state; /* LIVE or ENDED */
    uint32_t generation;        /* another generation in the same entry is another loop */
    uint32_t slot;              /* of its thread; 0: not known (yet) */
    int32_t tid;
    enum feed_loop_kind kind;
    bool has_ping;
    char name[FEED_NAME_MAX + 1];         /* "": its thread's */
    uint32_t limits_ms[FEED_LOOP_LIMITS]; /* jank, stall, hang, dead; 0: the service's */
};

/* What it does now. */
struct feed_loop_marks {
    enum feed_loop_state state;
    uint32_t generation;
    uint64_t mark; /* odd: busy */
    /* When the dispatch ended that feed_reader_loop_ask_end named last. Older than the asking: it ended before
     * the program could see that. */
    int64_t ended_ns;
    /* The last dispatch whose begin was noted, and when that was; 0, 0: none, or it is being stored. */
    uint64_t noted_mark;
    int64_t noted_ns;
    uint32_t progress;
    uint32_t ping_asked, ping_posted, ping_seen;
};

/* Entries to look at: [1, count). */
uint32_t feed_reader_loops(const struct feed_reader *reader);
/* False when the entry holds no loop (free, being filled in, or nonsense). */
bool feed_reader_loop(const struct feed_reader *reader, uint32_t number,
                      struct feed_loop_view *out);
/* The same of the words that change: a few loads. */
bool feed_reader_loop_marks(const struct feed_reader *reader, uint32_t number,
                            struct feed_loop_marks *out);

/* The dispatch with that mark is late: the program is to say when it ends. */
void feed_reader_loop_ask_end(struct feed_reader *reader, uint32_t number, uint64_t mark);
/* A look saw that mark: the program is to note when dispatches begin after it: each of the first eight, then one
 * in a quarter of all so far, so that the cost is bounded by the looks. */
void feed_reader_loop_note_begins(struct feed_reader *reader, uint32_t number, uint64_t mark);
/* Asks for a ping. */
void feed_reader_loop_ping(struct feed_reader *reader, uint32_t number);
/* Gives an ENDED entry back to the program. */
void feed_reader_loop_recycle(struct feed_reader *reader, uint32_t number);

/* Which loops the program is to mark. */
void feed_reader_watch_loops(struct feed_reader *reader, enum feed_watch watch);
/* All loops rest: the first dispatch from now on rings the bell. The program makes no barrier, so a dispatch that
 * begins at this very moment may miss it: look at the marks once more, a look later, before sleeping. */
void feed_reader_loops_rest(struct feed_reader *reader);
/* False: a dispatch has begun since, or feed_reader_loops_wake; *woken_ns is when it began, which is older than
 * the rest while the program is about to store it. */
bool feed_reader_loops_resting(const struct feed_reader *reader, int64_t *woken_ns);
/* No need to ring: somebody looks again. */
void feed_reader_loops_wake(struct feed_reader *reader);

#endif
