/*
 * trace_events.h - a timeline on its way out as a Timeline: Chrome's trace events, by time.
 *
 *   names of processes and threads, timeline_order.h -> trace_event.h -> carry
 *
 * A thread with events that is no isolate is named in front of its first one.
 *
 * Ownership  The writer owns the order. What is named already is told before; the texts are copied.
 * Threads    The service thread.
 */
#ifndef ISOSCOPE_TRACE_EVENTS_H
#define ISOSCOPE_TRACE_EVENTS_H

#include "timeline_order.h"
#include "../rpc/reply_stream.h"

struct isolates;

struct trace_events_options {
    struct profile *profile;
    const struct isolates *isolates;
    const char *envelope; /* the reply's text before the value of "result" */
    int64_t origin_us, extent_us;
};

/* Takes over order, also when it fails: -ISOSCOPE_NO_MEMORY. */
int trace_events_new(struct reply_stream **out, struct timeline_order *order,
                     const struct trace_events_options *options);

#endif
