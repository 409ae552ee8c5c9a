/*
 * follow_tables.h - functions, libraries and frames of the whole profile, numbered for good: what
 * all readers of follow.h share.
 *
 *   chunks -> follow_tables_read (frames that are new) -> tables.h
 *
 * Who takes what is available gets frames that are open: not all is known of them. They are looked
 * for again at each read; those of which more is known then are told of in a list that only grows,
 * so that a reader knows by a number which it has heard of.
 *
 * Bounded: when they have outgrown what the store holds, follow_tables_current begins a new
 * generation, and readers of the old one are told to begin anew too.
 *
 * Ownership  Counted; the profile holds the current generation, each struct follow its own.
 * Threads    The service thread.
 */
#ifndef ISOSCOPE_FOLLOW_TABLES_H
#define ISOSCOPE_FOLLOW_TABLES_H

#include "tables.h"

/* A frame that was told, and is told anew. */
struct follow_renamed {
    uint32_t number;           /* of the frame */
    struct table_chain before; /* what it was */
};

struct follow_open {
    uint64_t frame;
    uint32_t number;
};

struct follow_tables {
    uint32_t references;
    uint32_t generation; /* 1 for the first */
    struct tables tables;
    struct map64 frames_read; /* chunk serial -> how many of its frames are in the tables */
    struct follow_open *open; /* frames of which not all is known */
    uint32_t open_count, open_capacity;
    struct follow_renamed *renamed;
    uint32_t renamed_count, renamed_capacity;
    uint32_t frames_max; /* more begin a new generation; 0: nothing was read yet */
};

/* Borrowed from the profile; NULL: no memory. */
struct follow_tables *follow_tables_current(struct profile *profile);
struct follow_tables *follow_tables_hold(struct follow_tables *tables);
void follow_tables_release(struct follow_tables *tables); /* NULL is fine */

/* How far a reader is. All zeros: it has not begun. */
struct follow_reading {
    bool begun, added; /* added: all frames are in the tables */
    uint32_t view, frame;
};

/* 1: call again. 0, -ISOSCOPE_NO_MEMORY or (unless what is available will do) -ISOSCOPE_PENDING. */
int follow_tables_read(struct follow_tables *tables, struct follow_reading *reading,
                       const struct store_view *views, uint32_t count, bool partial_names_ok,
                       int64_t *work);
/* What a frame was when renamed_count was that. */
struct table_chain follow_tables_chain(const struct follow_tables *tables, uint32_t number,
                                       uint32_t renamed_count);
/* The number of a frame that was read. */
uint32_t follow_tables_number(const struct follow_tables *tables, uint64_t frame);

#endif
