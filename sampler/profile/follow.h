/*
 * follow.h - the door beside snapshot.h for views that follow: what came since the last time.
 *
 *   store -> follow (only chunks from the cursor on; tables that all readers share) -> protocol/
 *
 * A cursor says how much a reader has had; nothing is kept for it here, so it may come again, late or
 * never. Tables are numbered from 0, shared by all readers, and only grow, until they are begun
 * anew. A tree belongs to one piece of the store; its nodes and threads have numbers of their own.
 * What a follower costs depends on what is new, not on how much is stored.
 *
 * Units      *_us: CLOCK_MONOTONIC microseconds.
 * Ownership  follow_take makes, follow_free releases.
 * Threads    The service thread: tables are not locked.
 * Errors     0 or a negative isoscope_error; out stays untouched on failure.
 */
#ifndef ISOSCOPE_FOLLOW_H
#define ISOSCOPE_FOLLOW_H

#include "snapshot.h"

struct follow;
struct follow_tree;

/* How much of the tables and trees a reader has. All zeros: nothing. */
struct follow_cursor {
    uint32_t generation;                   /* of the tables */
    uint32_t clears, renames;              /* that the reader knows of */
    uint32_t libraries, functions, frames; /* of the tables */
    uint64_t tree;                         /* the last one it has something of; 0: none */
    uint32_t nodes, threads, samples;      /* of that tree */
    uint32_t renamed;                      /* of the list of follow_renamed */
};

struct follow_window {
    enum sample_kind kind; /* the cursor's too */
    uint64_t process_id;   /* 0: every process */
    int32_t tid;           /* of that process; 0: every thread */
    int64_t from_us;       /* without a cursor: from about this time on (samples are not sorted) */
    uint64_t count_max;    /* the first so many; 0: all */
    bool partial_names_ok; /* at once, with the names and lines that are known by now */
    struct follow_cursor cursor;
};

/* 0, or as snapshot_take: -ISOSCOPE_NO_MEMORY, -ISOSCOPE_NOT_FOUND, -ISOSCOPE_PENDING. */
int follow_take(struct follow **out, struct profile *profile, const struct follow_window *window);
/* The same in turns, as snapshot_begin and snapshot_step. */
int follow_begin(struct follow **out, struct profile *profile, const struct follow_window *window);
int follow_step(struct follow *follow, int64_t *work);
void follow_free(struct follow *follow); /* NULL is fine */

/* The cursor is no good any more (evicted, cleared, tables begun anew): all that the reader has is
 * void, and this begins at the oldest sample. */
bool follow_reset(const struct follow *follow);
/* There are more samples than count_max. */
bool follow_more(const struct follow *follow);
struct follow_cursor follow_cursor(const struct follow *follow); /* for the next time */
uint32_t follow_sample_count(const struct follow *follow);

/* New entries of the tables: numbers [*first, *end). What is lent lives until the next follow_take.
 */
void follow_libraries(const struct follow *follow, uint32_t *first, uint32_t *end);
void follow_functions(const struct follow *follow, uint32_t *first, uint32_t *end);
void follow_frames(const struct follow *follow, uint32_t *first, uint32_t *end);
const struct snapshot_library *follow_library(const struct follow *follow, uint32_t number);
const struct snapshot_function *follow_function(const struct follow *follow, uint32_t number);
/* A stored frame is a chain of length places in the source, innermost first. */
const struct snapshot_frame *follow_frame(const struct follow *follow, uint32_t number,
                                          uint32_t *length);

/* Frames of which more is known since the cursor: entries [*first, *end) of a list. One may be there
 * twice, and is the same each time. */
void follow_renamed(const struct follow *follow, uint32_t *first, uint32_t *end);
/* frame: its number. False: the reader does not have it yet. */
bool follow_renamed_frame(const struct follow *follow, uint32_t entry, uint32_t *frame);

/* Oldest first, each with what is new of it: [first, end). */
struct chunk_delta {
    uint64_t tree;
    uint32_t first_node, end_node; /* node 0 is nobody; it is not among these */
    uint32_t first_thread, end_thread;
    uint32_t first_sample, end_sample; /* not all need be of the process: follow_sample tells */
};

struct follow_node {
    uint32_t caller; /* a smaller node; 0: it is the thread's first function */
    uint32_t frame;
};

/* A thread, with a tag that it had set. */
struct follow_thread {
    uint64_t process_id;
    int32_t tid;
    const char *name;
    const char *tag; /* NULL: none */
};

struct follow_sample {
    int64_t timestamp_us;
    uint64_t weight; /* as in snapshot_sample */
    double objects;
    struct sample_wait wait;
    uint32_t thread, caller, frame; /* caller: a node, or 0; frame: the leaf's */
    enum feed_end end;
    uint8_t state;
};

uint32_t chunk_delta_count(const struct follow *follow);
struct chunk_delta chunk_delta(const struct follow *follow, uint32_t part);
struct follow_node follow_node(const struct follow *follow, uint32_t part, uint32_t node);
struct follow_thread follow_thread(const struct follow *follow, uint32_t part, uint32_t thread);
/* False: it is not of the process or thread, or was cleared. */
bool follow_sample(const struct follow *follow, uint32_t part, uint32_t number,
                   struct follow_sample *out);

#endif
