#include "trace_events.h"

#include "numbering.h"
#include "trace_event.h"
#include "../isolates/isolates.h"
#include "../../sampler/include/isoscope/isoscope.h"

#include <stdlib.h>
#include <string.h>

enum { WORK_EVENT = 24 };

struct trace_events {
    struct reply_stream stream; /* the first: this is one */
    struct profile *profile;
    struct timeline_order *order;
    bool gathered, any;
    struct numbering named; /* threads whose name is told */
    uint64_t process_id;    /* of the event before */
    int32_t pid;
    int64_t origin_us, extent_us;
};

static bool is_new(struct trace_events *events, uint64_t process_id, int32_t tid)
{
    bool is_new;

    numbering_of(&events->named, process_id, (uint32_t)tid, &is_new);
    return is_new;
}

static void find_pid(struct trace_events *events, uint64_t process_id)
{
    struct process_info process = { 0 };

    if (events->process_id == process_id)
        return;
    profile_process(events->profile, process_id, &process);
    events->process_id = process_id;
    events->pid = process.pid;
}

static void put_event(struct trace_events *events, const struct timeline_event *event,
                      enum timeline_side side)
{
    struct json_text *text = &events->stream.carry;

    find_pid(events, event->process_id);
    if (is_new(events, event->process_id, event->tid) && event->tid) {
        json_text_comma(text, &events->any);
        trace_event_put_name(text, events->pid, event->tid,
                             event->thread_name ? event->thread_name : "");
    }
    json_text_comma(text, &events->any);
    trace_event_put(text, event, side, events->pid);
}

static void put_end(struct trace_events *events)
{
    struct json_text *text = &events->stream.carry;

    json_text_member(text, "],\"timeOriginMicros\":", events->origin_us);
    json_text_member(text, ",\"timeExtentMicros\":", events->extent_us);
    json_text_literal(text, "}}");
    events->stream.done = true;
}

static void gather(struct trace_events *events)
{
    int rc = timeline_order_gather(events->order, events->stream.work);

    events->gathered = !rc;
    events->stream.failed = rc < 0;
}

static void put_next(struct reply_stream *stream)
{
    struct trace_events *events = (struct trace_events *)stream;
    struct timeline_event event;
    enum timeline_side side;

    if (!events->gathered)
        return gather(events);
    work_off(stream->work, WORK_EVENT);
    if (timeline_order_next(events->order, &event, &side))
        put_event(events, &event, side);
    else
        put_end(events);
    stream->failed |= events->named.failed;
}

static void free_events(struct reply_stream *stream)
{
    struct trace_events *events = (struct trace_events *)stream;

    timeline_order_free(events->order);
    numbering_free(&events->named);
    free(events);
}

static void put_names(struct trace_events *events, const struct isolates *isolates)
{
    struct json_text *text = &events->stream.carry;

    for (size_t i = 0; i < isolates->count; i++) {
        const struct isolate *isolate = &isolates->items[i];

        is_new(events, isolate->process->id, isolate->tid);
        json_text_comma(text, &events->any);
        trace_event_put_name(text, isolate->process->pid, isolate->tid, isolate->name);
    }
}

static const struct reply_stream_kind kind = { put_next, free_events };

int trace_events_new(struct reply_stream **out, struct timeline_order *order,
                     const struct trace_events_options *options)
{
    struct trace_events *events = calloc(1, sizeof(*events));

    if (!events) {
        timeline_order_free(order);
        return -ISOSCOPE_NO_MEMORY;
    }
    events->stream.kind = &kind;
    events->profile = options->profile;
    events->order = order;
    events->origin_us = options->origin_us;
    events->extent_us = options->extent_us;
    json_text_raw(&events->stream.carry, options->envelope, strlen(options->envelope));
    json_text_literal(&events->stream.carry, "{\"type\":\"Timeline\",\"traceEvents\":[");
    put_names(events, options->isolates);
    *out = &events->stream;
    return 0;
}
