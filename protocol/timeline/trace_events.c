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
    struct snapshot *snapshot; /* NULL: no samples */
    const struct snapshot_frame *frames;
    const struct snapshot_function *functions;
    uint32_t sample; /* of snapshot_next */
    struct written_samples written[WRITTEN_SAMPLES_MAX];
    unsigned written_count;
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

static bool is_written(const struct trace_events *events, const struct snapshot_sample *sample)
{
    for (unsigned i = 0; i < events->written_count; i++) {
        const struct written_samples *written = &events->written[i];

        if (sample->process_id == written->process_id &&
            (!written->tid || sample->tid == written->tid) &&
            sample->timestamp_us <= written->until_us)
            return true;
    }
    return false;
}

/* The VM's words. */
static void put_sample(struct trace_events *events, const struct snapshot_sample *sample)
{
    struct json_text *text = &events->stream.carry;

    find_pid(events, sample->process_id);
    json_text_comma(text, &events->any);
    json_text_literal(text, "{\"name\":\"Dart CPU sample\",\"cat\":\"Profiler\"");
    json_text_member(text, ",\"tid\":", sample->tid);
    json_text_member(text, ",\"pid\":", events->pid);
    json_text_member(text, ",\"ts\":", sample->timestamp_us);
    json_text_literal(text, ",\"ph\":\"i\",\"s\":\"t\",\"args\":{\"isolateId\":\"isolates/");
    json_text_uint(text, sample->process_id);
    json_text_literal(text, "\",\"isolateGroupId\":\"isolateGroups/");
    json_text_uint(text, sample->process_id);
    json_text_literal(text, "\",\"backtrace\":\"");
    for (uint32_t i = 0; i < sample->depth; i++) {
        const char *name = events->functions[events->frames[sample->frames[i]].function].name;

        json_text_escaped(text, name, strlen(name));
        json_text_literal(text, "\\n");
    }
    json_text_literal(text, "\"}}");
}

/* False: that was the last. */
static bool put_next_sample(struct trace_events *events)
{
    struct snapshot_sample sample;

    if (!events->snapshot)
        return false;
    if (!snapshot_ready(events->snapshot, events->sample, events->stream.work))
        return true;
    if (!snapshot_next(events->snapshot, &events->sample, &sample))
        return false;
    if (is_written(events, &sample))
        put_sample(events, &sample);
    return true;
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
    else if (!put_next_sample(events))
        put_end(events);
    stream->failed |= events->named.failed;
}

static void free_events(struct reply_stream *stream)
{
    struct trace_events *events = (struct trace_events *)stream;

    timeline_order_free(events->order);
    snapshot_free(events->snapshot);
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

static void add_samples(struct trace_events *events, const struct trace_events_options *options)
{
    uint32_t count;

    events->snapshot = options->snapshot;
    events->written_count = options->written_count;
    memcpy(events->written, options->written, sizeof(events->written));
    if (!events->snapshot)
        return;
    events->frames = snapshot_frames(events->snapshot, &count);
    events->functions = snapshot_functions(events->snapshot, &count);
}

static const struct reply_stream_kind kind = { put_next, free_events };

int trace_events_new(struct reply_stream **out, struct timeline_order *order,
                     const struct trace_events_options *options)
{
    struct trace_events *events = calloc(1, sizeof(*events));

    if (!events) {
        timeline_order_free(order);
        snapshot_free(options->snapshot);
        return -ISOSCOPE_NO_MEMORY;
    }
    events->stream.kind = &kind;
    events->profile = options->profile;
    events->order = order;
    events->origin_us = options->origin_us;
    events->extent_us = options->extent_us;
    add_samples(events, options);
    json_text_raw(&events->stream.carry, options->envelope, strlen(options->envelope));
    json_text_literal(&events->stream.carry, "{\"type\":\"Timeline\",\"traceEvents\":[");
    put_names(events, options->isolates);
    *out = &events->stream;
    return 0;
}
