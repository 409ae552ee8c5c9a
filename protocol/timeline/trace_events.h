/*
 * trace_events.h - a timeline on its way out as a Timeline: Chrome's trace events, by time.
 *
 *   names of processes and threads, timeline_order.h -> trace_event.h -> carry
 *
 * A thread with events that is no isolate is named in front of its first one. Samples that were
 * written into the timeline come behind all events, as instants.
 *
 * Ownership  The writer owns the order. What is named already is told before; the texts are copied.
 * Threads    The service thread.
 */
#ifndef ISOSCOPE_TRACE_EVENTS_H
#define ISOSCOPE_TRACE_EVENTS_H

#include "timeline_order.h"
#include "../rpc/reply_stream.h"

struct isolates;
struct snapshot;

/* Whose samples are among the events, up to when: _writeCpuProfileTimeline. */
struct written_samples {
    uint64_t process_id;
    int32_t tid; /* 0: of all threads */
    int64_t until_us;
};
enum { WRITTEN_SAMPLES_MAX = 16 };

struct trace_events_options {
    struct profile *profile;
    const struct isolates *isolates;
    const char *envelope; /* the reply's text before the value of "result" */
    int64_t origin_us, extent_us;
    struct snapshot *snapshot; /* of the window; NULL: no samples are told */
    struct written_samples written[WRITTEN_SAMPLES_MAX];
    unsigned written_count;
};

/* Takes over order and the snapshot, also when it fails: -ISOSCOPE_NO_MEMORY. */
int trace_events_new(struct reply_stream **out, struct timeline_order *order,
                     const struct trace_events_options *options);

#endif
