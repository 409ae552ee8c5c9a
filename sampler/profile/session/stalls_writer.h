/*
 * stalls_writer.h - what is new of a profile's stalls, as blocks STLS.
 *
 *   stalls.h (what changed since the last time) -> stalls_writer -> blocks, each a frame of its own
 *
 * A stall is told when it has ended. One that goes on when a file ends is told as it is then.
 *
 * Ownership  The user's struct: all zeros is a writer that told nothing.
 * Threads    One at a time.
 * Errors     As session_writer.h.
 */
#ifndef ISOSCOPE_SESSION_STALLS_WRITER_H
#define ISOSCOPE_SESSION_STALLS_WRITER_H

#include "table_writer.h"

struct stalls_writer {
    uint64_t change; /* up to it all is told */
};

/* Those that have ended. 1: there may be more. */
int stalls_writer_put(struct stalls_writer *writer, struct table_writer *tables, struct bytes *out);
/* Those that go on. */
int stalls_writer_ongoing(struct table_writer *tables, struct bytes *out);

#endif
