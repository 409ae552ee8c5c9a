/*
 * event_columns.h - events into the blocks EVTS and EVNT: what they come to, and their columns. How they
 * come out is in event_loading.h.
 *
 *     event_columns_begin; event_columns_source and event_columns_add, again and again, until it is
 *     full; event_columns_outline, event_columns_end
 *
 * Ownership  The user's structs: all zeros is empty, event_writing_free and event_outline_free end them.
 * Errors     False is no memory.
 */
#ifndef ISOSCOPE_SESSION_EVENT_COLUMNS_H
#define ISOSCOPE_SESSION_EVENT_COLUMNS_H

#include "../../base/map64.h"
#include "../../events/event_chunk.h"
#include "columns.h"
#include "entry.h"

/* In the order of docs/session_format.md. */
enum event_column {
    EVENT_COLUMN_TEXT_BYTES,
    EVENT_COLUMN_TEXTS,
    EVENT_COLUMN_STREAM,
    EVENT_COLUMN_SOURCE,
    EVENT_COLUMN_WHAT,
    EVENT_COLUMN_NAME,
    EVENT_COLUMN_TIME,
    EVENT_COLUMN_DURATION,
    EVENT_COLUMN_DEPTH,
    EVENT_COLUMN_ID,
    EVENT_COLUMN_ARGUMENTS,
    EVENT_COLUMN_ARGUMENT_NAME,
    EVENT_COLUMN_ARGUMENT_TYPE,
    EVENT_COLUMN_VALUE,
    EVENT_COLUMN_DOUBLE,
    EVENT_COLUMNS,
};
static_assert((int)EVENT_COLUMNS <= (int)COLUMNS_MAX, "columns");

static inline bool event_kind_lasts(enum timeline_kind kind)
{
    return kind == TIMELINE_SLICE || kind == TIMELINE_FRAME;
}

static inline bool event_kind_has_id(enum timeline_kind kind)
{
    return (kind >= TIMELINE_ASYNC_BEGIN && kind <= TIMELINE_FLOW_END) || kind == TIMELINE_FRAME;
}

/* What is known of a block of events without its columns. */
struct event_outline {
    uint32_t events;
    int64_t first_ns, last_ns; /* from the first start to the last end */
    struct event_outline_source {
        uint32_t thread; /* the file's number */
        uint32_t events;
    } * sources;
    uint32_t source_count, source_capacity;
};

struct event_writing {
    struct event_outline outline;
    struct columns columns;
    struct map64 texts;   /* where they are in memory -> number + 1 */
    struct map64 sources; /* thread and stream -> number + 1 */
    uint32_t text_count;
    int64_t end_ns; /* of the event before */
    uint64_t id;    /* the one before */
};

void event_columns_begin(struct event_writing *writing);
/* More belongs into another block. */
bool event_columns_full(const struct event_writing *writing);
/* Texts of one address are equal, from event_columns_begin on. */
bool event_columns_add(struct event_writing *writing, uint32_t thread,
                       const struct timeline_event *event);
/* The content of EVTS. */
json_t *event_columns_outline(const struct event_writing *writing);
/* Appends the content of EVNT. */
void event_columns_end(struct event_writing *writing, struct bytes *out);
void event_writing_free(struct event_writing *writing);

void event_outline_read(struct entry *entry, struct event_outline *out);
void event_outline_free(struct event_outline *outline);

#endif
