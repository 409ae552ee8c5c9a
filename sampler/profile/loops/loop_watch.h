/*
 * loop_watch.h - the dispatches of one loop, out of its words as they were at each look.
 *
 *   watched_loop (reads the words) -> loop_watch_look -> loop_watch_step, until there is none -> watched_loop
 *
 * The words say what, the looks say when: an odd mark that was even at the look before is a dispatch that began
 * between the two. What is known of a time is a range. A limit is over when that is certain.
 *
 * Limits count from the dispatch's begin, the last progress or a reset: that is a stretch of it. Most dispatches
 * have one.
 *
 * Units      *_ns: CLOCK_MONOTONIC nanoseconds. Ranges: [min, max].
 * Ownership  The user's struct; all zeros is a loop that nobody looked at yet.
 * Threads    One at a time. Pure: no clock, no memory of its own.
 * Errors     None: words that cannot be true (a mark that goes back, or jumps) begin it anew.
 */
#ifndef ISOSCOPE_LOOP_WATCH_H
#define ISOSCOPE_LOOP_WATCH_H

#include "loop_limits.h"

/* The words, read between before and after. */
struct loop_look {
    int64_t before_ns, after_ns;
    uint64_t mark;
    uint32_t progress;
    int64_t ended_ns; /* read after mark */
    /* A dispatch whose begin the program noted, and when that was; 0, 0: it noted none. */
    uint64_t noted_mark;
    int64_t noted_ns;
    /* When the first dispatch after a rest began; 0: there was none. alone: no other loop of the program has had
     * one since. */
    int64_t woken_ns;
    bool alone;
};

struct loop_stretch {
    uint64_t mark;
    struct stall_range start_ns, took_ns; /* took: so far, or in all */
    uint32_t looks;                       /* that met it */
    int64_t met_ns;                       /* busy time that the first of them stands for */
    bool exact;                           /* its start is known exactly */
    bool asked, armed;
    enum stall_level level; /* told so far; STALL_LEVEL_COUNT: none */
};

struct loop_watch {
    bool begun, rested;
    uint64_t mark;
    uint32_t progress;
    int64_t looked_ns;           /* the last look: it was so then at the earliest */
    int64_t ended_ns;            /* of an earlier dispatch: no end of this one */
    struct stall_range began_ns; /* the dispatch, of which open is the last stretch */
    uint32_t looks;              /* that met the dispatch */
    struct loop_stretch open, over;
    bool has_over;
    bool over_whole; /* the dispatch has ended with it */
    struct stall_range over_dispatch_ns;
    /* What was counted since they were taken. */
    uint64_t dispatches, shorts;
    int64_t shorts_ns;
};

enum loop_step {
    LOOP_NOTHING,
    LOOP_ASK_END, /* the program is to say when this one ends */
    LOOP_ARMED,   /* 0.8 of the stall limit has passed */
    LOOP_REACHED, /* a level */
    LOOP_ENDED,   /* a stretch of known time */
};

struct loop_news {
    struct loop_stretch stretch;
    enum stall_level
        level; /* of LOOP_REACHED: reached now; of LOOP_ENDED: the highest; COUNT: none */
    /* Of LOOP_ENDED: so has the dispatch, which took so long. */
    bool whole;
    struct stall_range dispatch_ns;
};

/* Of a new loop: it was not there at that look. */
void loop_watch_begin(struct loop_watch *watch, int64_t looked_ns);
void loop_watch_look(struct loop_watch *watch, const struct loop_look *look);
/* What follows, one after the other. */
enum loop_step loop_watch_step(struct loop_watch *watch, const struct loop_limits *limits,
                               struct loop_news *out);
/* It is at rest for sure since the last look: nobody looks until it is woken. */
void loop_watch_rests(struct loop_watch *watch);
/* The loop's thread or program is gone: what is open has ended, as a look at this moment sees it. */
void loop_watch_close(struct loop_watch *watch, int64_t now_ns);
/* What is open is no dispatch of the program's, but a ping: the job that keeps it waiting began between these. */
void loop_watch_began(struct loop_watch *watch, struct stall_range began);
/* Whoever could have run did not: limits count from now on, and nothing is armed. */
void loop_watch_reset(struct loop_watch *watch, int64_t now_ns);

/* As loop_watch_look, of a loop that was idle and still is: nothing follows, and little memory is touched. False: it is not
 * so, and nothing was done. */
static inline bool loop_watch_idles(struct loop_watch *watch, const struct loop_look *look)
{
    if (!watch->begun || watch->mark % 2 || look->mark != watch->mark)
        return false;
    watch->rested = false;
    watch->progress = look->progress;
    watch->ended_ns = look->ended_ns;
    watch->looked_ns = look->before_ns;
    return true;
}

static inline bool loop_watch_busy(const struct loop_watch *watch)
{
    return watch->begun && watch->mark % 2;
}

/* Dispatches since the last call that nobody can tell the time of: how many, and how long they took in all by what
 * looks met of them. */
struct loop_shorts {
    uint64_t dispatches; /* all, those of known time too */
    uint64_t shorts;
    int64_t shorts_ns;
};
struct loop_shorts loop_watch_take(struct loop_watch *watch);

#endif
