/*
 * live_tables.h - functions, libraries and frames of the whole profile, numbered for good: what all
 * readers of live.h share.
 *
 *   chunks -> live_tables_read (frames that are new) -> tables.h
 *
 * Bounded: when they have outgrown what the store holds, live_tables_current begins a new
 * generation, and readers of the old one are told to begin anew too.
 *
 * Ownership  Counted; the profile holds the current generation, each struct live its own.
 * Threads    The service thread.
 */
#ifndef ISOSCOPE_LIVE_TABLES_H
#define ISOSCOPE_LIVE_TABLES_H

#include "tables.h"

struct live_tables {
    uint32_t references;
    uint32_t generation; /* 1 for the first */
    struct tables tables;
    struct map64 frames_read; /* chunk serial -> how many of its frames are in the tables */
    uint32_t frames_max;      /* more begin a new generation; 0: nothing was read yet */
};

/* Borrowed from the profile; NULL: no memory. */
struct live_tables *live_tables_current(struct profile *profile);
struct live_tables *live_tables_hold(struct live_tables *tables);
void live_tables_release(struct live_tables *tables); /* NULL is fine */

/* 0, -ISOSCOPE_NO_MEMORY or -ISOSCOPE_PENDING. */
int live_tables_read(struct live_tables *tables, const struct store_view *views, uint32_t count);
/* The number of a frame that was read. */
uint32_t live_tables_number(const struct live_tables *tables, uint64_t frame);

#endif
