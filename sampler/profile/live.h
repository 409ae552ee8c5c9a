/*
 * live.h - the door beside snapshot.h for views that follow: what came since the last time.
 *
 *   store -> live (only chunks from the mark on; tables that all readers share) -> protocol/
 *
 * A mark says how much a reader has had; nothing is kept for it here, so it may come again, late or
 * never. Tables are numbered from 0, shared by all readers, and only grow, until they are begun
 * anew. A tree belongs to one piece of the store; its nodes and threads have numbers of their own.
 * What a live view costs depends on what is new, not on how much is stored.
 *
 * Units      *_us: CLOCK_MONOTONIC microseconds.
 * Ownership  live_take makes, live_free releases.
 * Threads    The service thread: tables are not locked.
 * Errors     0 or a negative isoscope_error; out stays untouched on failure.
 */
#ifndef ISOSCOPE_LIVE_H
#define ISOSCOPE_LIVE_H

#include "snapshot.h"

struct live;
struct live_tree;

/* How much of the tables and trees a reader has. All zeros: nothing. */
struct live_mark {
    uint32_t generation;                   /* of the tables */
    uint32_t clears, renames;              /* that the reader knows of */
    uint32_t libraries, functions, frames; /* of the tables */
    uint64_t tree;                         /* the last one it has something of; 0: none */
    uint32_t nodes, threads, samples;      /* of that tree */
    uint32_t renamed;                      /* of the list of live_renamed */
};

struct live_window {
    uint64_t process_id; /* 0: every process */
    int32_t tid;         /* of that process; 0: every thread */
    int64_t from_us;     /* without a mark: from about this time on (samples are not sorted) */
    uint64_t count_max;  /* the first so many; 0: all */
    bool available;      /* at once, with the names and lines that are known by now */
    struct live_mark mark;
};

/* Whether profile_options.changed is called for new samples too, at most four times a second. */
void profile_follow(struct profile *profile, bool follows);

/* 0, or as snapshot_take: -ISOSCOPE_NO_MEMORY, -ISOSCOPE_NOT_FOUND, -ISOSCOPE_PENDING. */
int live_take(struct live **out, struct profile *profile, const struct live_window *window);
/* The same in turns, as snapshot_begin and snapshot_step. */
int live_begin(struct live **out, struct profile *profile, const struct live_window *window);
int live_step(struct live *live, int64_t *work);
void live_free(struct live *live); /* NULL is fine */

/* The mark is no good any more (evicted, cleared, tables begun anew): all that the reader has is
 * void, and this begins at the oldest sample. */
bool live_reset(const struct live *live);
/* There are more samples than count_max. */
bool live_more(const struct live *live);
struct live_mark live_mark(const struct live *live); /* for the next time */
uint32_t live_sample_count(const struct live *live);

/* New entries of the tables: numbers [*first, *end). What is lent lives until the next live_take.
 */
void live_libraries(const struct live *live, uint32_t *first, uint32_t *end);
void live_functions(const struct live *live, uint32_t *first, uint32_t *end);
void live_frames(const struct live *live, uint32_t *first, uint32_t *end);
const struct snapshot_library *live_library(const struct live *live, uint32_t number);
const struct snapshot_function *live_function(const struct live *live, uint32_t number);
/* A stored frame is a chain of length places in the source, innermost first. */
const struct snapshot_frame *live_frame(const struct live *live, uint32_t number, uint32_t *length);

/* Frames of which more is known since the mark: entries [*first, *end) of a list. One may be there
 * twice, and is the same each time. */
void live_renamed(const struct live *live, uint32_t *first, uint32_t *end);
/* frame: its number. False: the reader does not have it yet. */
bool live_renamed_frame(const struct live *live, uint32_t entry, uint32_t *frame);

/* Oldest first, each with what is new of it: [first, end). */
struct live_part {
    uint64_t tree;
    uint32_t first_node, end_node; /* node 0 is nobody; it is not among these */
    uint32_t first_thread, end_thread;
    uint32_t first_sample, end_sample; /* not all need be of the process: live_sample tells */
};

struct live_node {
    uint32_t caller; /* a smaller node; 0: it is the thread's first function */
    uint32_t frame;
};

/* A thread, with a tag that it had set. */
struct live_thread {
    uint64_t process_id;
    int32_t tid;
    const char *name;
    const char *tag; /* NULL: none */
};

struct live_sample {
    int64_t timestamp_us;
    uint64_t cpu_ns;
    uint32_t thread, caller, frame; /* caller: a node, or 0; frame: the leaf's */
    enum feed_end end;
    uint8_t state;
};

uint32_t live_part_count(const struct live *live);
struct live_part live_part(const struct live *live, uint32_t part);
struct live_node live_node(const struct live *live, uint32_t part, uint32_t node);
struct live_thread live_thread(const struct live *live, uint32_t part, uint32_t thread);
/* False: it is not of the process or thread, or was cleared. */
bool live_sample(const struct live *live, uint32_t part, uint32_t number, struct live_sample *out);

#endif
