/*
 * watched_loop.h - one loop of a program: whose it is, what is counted of it, and its thread while it is late.
 *
 *   loop_subject (its words at a look) -> watched_loop_look -> loop_watch.h (what happened), late_thread.h (why)
 *     -> loop_stats.h, loop_reports.h
 *
 * Units      *_ns: CLOCK_MONOTONIC nanoseconds.
 * Ownership  known_loops.h owns them; texts are its.
 * Threads    The watcher's, or whoever holds its lock.
 * Errors     None.
 */
#ifndef ISOSCOPE_WATCHED_LOOP_H
#define ISOSCOPE_WATCHED_LOOP_H

#include "../../feed/feed_reader_loops.h"
#include "../wall/task_files.h"
#include "cpu_rule.h"
#include "late_thread.h"
#include "loop_reports.h"
#include "loop_stats.h"
#include "loop_watch.h"
#include "ping.h"

struct watched_loop {
    uint32_t number;
    uint64_t process_id;
    const char *name, *thread_name;
    enum feed_loop_kind kind;
    int32_t tid;
    uint32_t slot;              /* of its thread in the feed */
    uint32_t entry, generation; /* in the feed's table */
    bool ended, watched, has_ping;
    bool pinged; /* times are those of pings, as its dispatches are not told */
    struct loop_limits limits;
    struct loop_watch watch;
    struct loop_stats stats;
    struct ping ping;
    struct feed_loop_marks marks; /* at this look */
    int64_t before_ns, after_ns;  /* of it */
    int64_t busy_ns;              /* when it was last seen busy; 0: never */

    /* The late dispatch. */
    struct late_thread *late; /* NULL: its thread was not looked at */
    bool told;                /* to the reports */
    int64_t look_ns;          /* at its thread, the next */
    uint64_t host_late_ns;    /* since the dispatch began */
    uint64_t dismissed_mark;  /* of the last dispatch that was dismissed; 0: none */

    /* Of its thread, read now and then. */
    struct task_kept clock_file;
    int32_t tid_here; /* 0: not known yet */
    bool clocked;
    struct thread_clock clock;
    uint64_t clock_dispatches; /* stats.dispatches at that time */
    int64_t clock_ns;
    struct cpu_rule cpu;
};

/* What the looks at all loops of a program share. */
struct loop_round {
    struct feed_reader *reader;
    struct subject *subject; /* NULL: nothing can be read of its threads */
    int32_t pid;             /* as it is seen from here; 0: it is not, or is another one by now */
    const struct loop_reports *reports;
    int64_t now_ns;
    int64_t late_ns; /* so much later than planned */
    int64_t woken_ns;
    bool alone;     /* as in loop_look */
    bool suspended; /* nobody has run for a while */
};

enum {
    LOOK_NS = 8000000,       /* while dispatches are short */
    CLOSE_LOOK_NS = 4000000, /* at one that takes longer than this: */
    CLOSE_AFTER_NS = 1000000,
    LINGER_NS = 1000000000, /* after the last dispatch */
};

/* Its words are in marks. Returns when it wants to be looked at again; INT64_MAX: when it is woken. */
int64_t watched_loop_look(struct watched_loop *loop, const struct loop_round *round);
/* Its thread's clock, for the delay of its dispatches. True: the CPU rule is broken, as out says. */
bool watched_loop_clock(struct watched_loop *loop, const struct loop_round *round,
                        struct cpu_use *out);
/* Whether its thread has run since it last answered a ping. */
bool watched_loop_wants_ping(struct watched_loop *loop, const struct loop_round *round);
/* It is over, or its program is. */
void watched_loop_end(struct watched_loop *loop, const struct loop_round *round);
/* It is not watched any more. */
void watched_loop_forget(struct watched_loop *loop, const struct loop_round *round);
/* What is counted of it begins anew. */
void watched_loop_clear(struct watched_loop *loop);
void watched_loop_tell(const struct watched_loop *loop, struct loop_info *out);

#endif
