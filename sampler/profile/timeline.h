/*
 * timeline.h - the door beside snapshot.h for what programs told: slices, instants, counters, flows, frames.
 *
 *   capture/events -> ring of events -> intake/drain_events -> events/ (pairs, stores) -> protocol/
 *
 * A timeline is an immutable window. begin and end are paired when they arrive, so a slice is one entry,
 * in the order of ends. What has not ended stands behind all others, as open.
 *
 * The service tells what it sees, too: the process, its threads and libraries, what is sampled and
 * what was lost, as instants of tid 0 of each process, on the streams VM and Embedder.
 *
 * Units      *_ns: CLOCK_MONOTONIC nanoseconds, the samples' clock. *_us: its microseconds.
 * Ownership  timeline_take makes, timeline_free releases; all pointers live until then. Words that are
 *            equal are often, not always, one pointer.
 * Threads    Every call here is for any thread; one timeline is used by one thread at a time.
 * Errors     0 or a negative isoscope_error; out stays untouched on failure.
 */
#ifndef ISOSCOPE_TIMELINE_H
#define ISOSCOPE_TIMELINE_H

#include "snapshot.h"

struct timeline;

/* How far somebody has read, in the order of arrival; zeroed: nothing yet. */
struct timeline_cursor {
    uint64_t chunk;
    uint32_t event;
    uint32_t clears; /* that the reader knows of */
};

enum timeline_kind {
    TIMELINE_SLICE,
    TIMELINE_INSTANT,
    TIMELINE_ASYNC_BEGIN,
    TIMELINE_ASYNC_INSTANT,
    TIMELINE_ASYNC_END,
    TIMELINE_FLOW_BEGIN,
    TIMELINE_FLOW_STEP,
    TIMELINE_FLOW_END,
    TIMELINE_COUNTER, /* each argument is a series */
    TIMELINE_FRAME,
    TIMELINE_KINDS,
};

/* Why a slice is not what a pair of begin and end makes. */
enum timeline_mark {
    TIMELINE_WHOLE,
    TIMELINE_OPEN,     /* it has not ended; its duration is until now, or until its process ended */
    TIMELINE_CUT_OFF,  /* its thread or process ended in it, or its end was lost */
    TIMELINE_NO_BEGIN, /* an end without a begin: it has no duration and no name */
};

struct timeline_argument {
    const char *name;
    enum feed_argument_type type;
    union {
        int64_t integer;
        uint64_t count;
        double number;
        const char *text;
    };
};

struct timeline_event {
    enum timeline_kind kind;
    enum timeline_mark mark;
    int64_t start_ns;
    uint64_t duration_ns; /* SLICE, FRAME; else 0 */
    uint64_t id;          /* ASYNC_*, FLOW_*; FRAME: its number; else 0 */
    uint64_t process_id;
    int32_t tid; /* 0: the service itself */
    const char *thread_name;
    const char *name;   /* NO_BEGIN: "" */
    const char *stream; /* its category */
    uint32_t depth;     /* SLICE: slices of its thread that stood open around it when it was told */
    bool complete;      /* SLICE: it was told at once, so it may cross others of its thread */
    uint32_t argument_count;
    struct timeline_argument arguments[FEED_EVENT_ARGUMENTS_MAX];
};

struct timeline_window {
    uint64_t process_id;                 /* 0: every process */
    int32_t tid;                         /* of that process; 0: every thread */
    bool bounded;                        /* false: origin and extent are not looked at */
    int64_t origin_us, extent_us;        /* what overlaps it belongs to it; both ends do */
    const struct timeline_cursor *since; /* only what came behind it; NULL: not asked */
    uint64_t count_max;                  /* the first so many, open ones not counted; 0: all */
    uint32_t kinds;                      /* of these, 1 << timeline_kind; 0: all */
    bool open;                           /* slices that have not ended, too: behind all others */
};

/* 0, -ISOSCOPE_NO_MEMORY or -ISOSCOPE_NOT_FOUND (no such process). */
int timeline_take(struct timeline **out, struct profile *profile,
                  const struct timeline_window *window);
void timeline_free(struct timeline *timeline); /* NULL is fine */
/* In the order of arrival; cursor starts at 0; false at the end. What is given lives until the next call;
 * names, thread_name, stream and texts as long as the timeline. With a cursor as it was before, the same
 * event is given again. */
bool timeline_next(struct timeline *timeline, uint64_t *cursor, struct timeline_event *out);
/* Where a next window goes on that has this one's "since": behind all, or the last one of count_max. */
struct timeline_cursor timeline_cursor(const struct timeline *timeline);
/* What that cursor pointed to was let go or cleared: all that the reader has is void, and this begins at
 * the oldest. */
bool timeline_reset(const struct timeline *timeline);
/* There is more than count_max. */
bool timeline_more(const struct timeline *timeline);
/* Events of a saved profile could not be read; they are left out. saved_damage says where. */
bool timeline_damaged(const struct timeline *timeline);

/* What the store of events has, and what is missing of it. */
struct timeline_history {
    size_t bytes, bytes_max;
    uint64_t events; /* there now */
    uint64_t evicted;
    uint64_t lost;      /* in programs: a ring was full, or a write came in the middle of another */
    uint64_t unstored;  /* found no memory here, or could not be true */
    uint64_t unmatched; /* ends without a begin */
    uint64_t cut_off;   /* begins without an end */
    uint64_t too_deep;  /* slices inside of so many others that they were not kept */
    uint64_t backward;  /* ends before their begin: their slices have no duration */
    int64_t first_ns, last_ns; /* 0: none */
};
struct timeline_history profile_timeline_history(struct profile *profile);

/* Names of streams that programs have used, in the order in which they became known, after the VM's own.
 * They live as long as the profile. Returns how many there are; fills at most capacity. */
size_t profile_timeline_streams(struct profile *profile, const char **out, size_t capacity);
/* Whether programs write that stream's events: control.h. "": of streams that become known later. */
bool profile_timeline_records(struct profile *profile, const char *stream);

#endif
