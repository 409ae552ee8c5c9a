/*
 * loops_writer.h - what is new of a profile's loops, as blocks LOOP.
 *
 *   stalls.h (loops, threads that are not watched, the CPU rule) -> loops_writer -> blocks, each a frame of its own
 *
 * Ownership  The user's struct: all zeros is a writer that told nothing.
 * Threads    One at a time.
 * Errors     As session_writer.h.
 */
#ifndef ISOSCOPE_SESSION_LOOPS_WRITER_H
#define ISOSCOPE_SESSION_LOOPS_WRITER_H

#include "table_writer.h"

struct loops_writer {
    int64_t told_us;
    uint64_t high; /* number of the last one told, in all files */
};

/* A new file: all loops are told anew. */
void loops_writer_begin(struct loops_writer *writer);
/* Counters are new each time: they are told now and then. now_us INT64_MAX: now. */
int loops_writer_put(struct loops_writer *writer, struct table_writer *tables, int64_t now_us,
                     struct bytes *out);

#endif
