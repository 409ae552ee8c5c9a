/*
 * event_loading.h - the columns of a block EVNT into a chunk of the store.
 *
 * Threads    One at a time for a chunk: while it loads.
 * Errors     NULL, or why the content cannot be; nothing in it is believed.
 */
#ifndef ISOSCOPE_SESSION_EVENT_LOADING_H
#define ISOSCOPE_SESSION_EVENT_LOADING_H

#include "event_columns.h"

/* Into an empty chunk, as many events as the outline says, whose threads are not looked at. */
const char *event_columns_load(const struct bytes *content, const struct event_outline *outline,
                               int64_t shift_ns, struct event_chunk *chunk);

#endif
