/*
 * events_writer.h - what is new of a profile's events, as blocks EVTS and EVNT.
 *
 *   store of events (views since the last time) -> events_writer -> blocks, each a frame of its own
 *
 * Ownership  The user's struct: all zeros is a writer that told nothing, events_writer_free ends it.
 * Threads    One at a time.
 * Errors     As session_writer.h.
 */
#ifndef ISOSCOPE_SESSION_EVENTS_WRITER_H
#define ISOSCOPE_SESSION_EVENTS_WRITER_H

#include "format/event_columns.h"
#include "table_writer.h"

struct events_writer {
    uint64_t chunk;    /* the one that was told last */
    uint32_t event;    /* the next one of it */
    uint64_t sequence; /* of the next one to come */
    struct event_writing writing;
    uint64_t events; /* told, in all files */
};

void events_writer_free(struct events_writer *writer);
/* Events of a chunk that were not told yet. 1: there may be more. */
int events_writer_put(struct events_writer *writer, struct table_writer *tables, struct bytes *out);
/* What stands open, as it is now: it is told again when it has ended. */
int events_writer_open(struct events_writer *writer, struct table_writer *tables, int64_t now_us,
                       struct bytes *out);

#endif
