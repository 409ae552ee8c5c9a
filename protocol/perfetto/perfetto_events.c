#include "perfetto_events.h"

#include "perfetto_packets.h"

#include <stdio.h>

enum { LANE_NAME_MAX = 160 };

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
    while (*text)
        hash = mix(hash, (unsigned char)*text++);
    return mix(hash, 0);
}

/* Of no process and no thread: their highest bit is not set. */
static uint64_t uuid_of(uint64_t hash)
{
    return hash | UINT64_C(1) << 63;
}

static bool is_new(struct perfetto_events *events, uint64_t uuid)
{
    bool is_new;

    numbering_of(&events->tracks, uuid, 0, &is_new);
    return is_new;
}

static uint64_t thread_track(const struct timeline_event *event, int32_t pid)
{
    return event->tid ? perfetto_thread_uuid(pid, event->tid) : perfetto_process_uuid(pid);
}

/* One that has the event's name, for what is the same in what: its id, or nothing. */
static uint64_t own_track(struct perfetto_events *events, struct json_text *bytes,
                          const struct timeline_event *event, int32_t pid, uint64_t what)
{
    uint64_t hash = mix(mix(event->process_id, event->kind == TIMELINE_FRAME), what);
    uint64_t uuid = uuid_of(mix_text(mix_text(hash, event->stream), event->name));

    if (is_new(events, uuid))
        perfetto_track(bytes, uuid, perfetto_process_uuid(pid), event->name);
    return uuid;
}

static uint64_t lane_track(struct perfetto_events *events, struct json_text *bytes,
                           const struct timeline_event *event, uint64_t track, uint32_t lane)
{
    uint64_t uuid = uuid_of(mix(track, lane));
    char name[LANE_NAME_MAX];

    if (!lane)
        return track;
    snprintf(name, sizeof(name), "%s (%u)",
             event->kind == TIMELINE_FRAME ? event->name
             : event->thread_name          ? event->thread_name
                                           : "",
             lane + 1);
    if (is_new(events, uuid))
        perfetto_track(bytes, uuid, track, name);
    return uuid;
}

static void put_side(struct perfetto_events *events, struct json_text *bytes,
                     const struct timeline_event *event, enum timeline_side side, uint64_t track)
{
    int64_t end_ns = event->start_ns + (int64_t)event->duration_ns;
    uint32_t lane;

    /* What has not ended may be around all that comes. */
    if (event->mark == TIMELINE_OPEN)
        end_ns = INT64_MAX;
    if (side == TIMELINE_SIDE_BEGIN)
        lane = perfetto_lane_begin(&events->lanes, track, event->start_ns, end_ns);
    else
        lane = perfetto_lane_end(&events->lanes, track, event->start_ns, end_ns);
    track = lane_track(events, bytes, event, track, lane);
    if (side == TIMELINE_SIDE_BEGIN)
        perfetto_event(bytes, PERFETTO_BEGIN, track, event->start_ns, event);
    else
        perfetto_event(bytes, PERFETTO_END, track, end_ns, event);
}

static void put_counter(struct perfetto_events *events, struct json_text *bytes,
                        const struct timeline_event *event, int32_t pid)
{
    bool several = event->argument_count > 1;

    for (uint32_t i = 0; i < event->argument_count; i++) {
        const struct timeline_argument *value = &event->arguments[i];
        uint64_t hash = mix_text(mix_text(mix(event->process_id, 2), event->name), value->name);

        if (value->type == FEED_ARGUMENT_TEXT)
            continue;
        if (is_new(events, uuid_of(hash)))
            perfetto_counter_track(bytes, uuid_of(hash), perfetto_process_uuid(pid), event->name,
                                   several ? value->name : NULL);
        perfetto_counter(bytes, uuid_of(hash), event->start_ns, value);
    }
}

/* A slice of no length, or what has no sides at all. */
static void put_whole(struct perfetto_events *events, struct json_text *bytes,
                      const struct timeline_event *event, uint64_t track)
{
    if (event->kind == TIMELINE_SLICE && event->mark != TIMELINE_NO_BEGIN) {
        put_side(events, bytes, event, TIMELINE_SIDE_BEGIN, track);
        put_side(events, bytes, event, TIMELINE_SIDE_END, track);
    } else {
        perfetto_event(bytes, PERFETTO_INSTANT, track, event->start_ns, event);
    }
}

void perfetto_events_put(struct perfetto_events *events, struct json_text *bytes,
                         const struct timeline_event *event, enum timeline_side side, int32_t pid)
{
    switch (event->kind) {
    case TIMELINE_COUNTER:
        return put_counter(events, bytes, event, pid);
    case TIMELINE_ASYNC_BEGIN:
        return perfetto_event(bytes, PERFETTO_BEGIN,
                              own_track(events, bytes, event, pid, event->id), event->start_ns,
                              event);
    case TIMELINE_ASYNC_INSTANT:
        return perfetto_event(bytes, PERFETTO_INSTANT,
                              own_track(events, bytes, event, pid, event->id), event->start_ns,
                              event);
    case TIMELINE_ASYNC_END:
        return perfetto_event(bytes, PERFETTO_END, own_track(events, bytes, event, pid, event->id),
                              event->start_ns, event);
    case TIMELINE_FRAME:
        if (side == TIMELINE_SIDE_WHOLE)
            return perfetto_event(bytes, PERFETTO_INSTANT, own_track(events, bytes, event, pid, 0),
                                  event->start_ns, event);
        return put_side(events, bytes, event, side, own_track(events, bytes, event, pid, 0));
    case TIMELINE_SLICE:
    case TIMELINE_INSTANT:
    case TIMELINE_FLOW_BEGIN:
    case TIMELINE_FLOW_STEP:
    case TIMELINE_FLOW_END:
    case TIMELINE_KINDS:
        break;
    }
    if (side == TIMELINE_SIDE_WHOLE)
        put_whole(events, bytes, event, thread_track(event, pid));
    else
        put_side(events, bytes, event, side, thread_track(event, pid));
}

bool perfetto_events_failed(const struct perfetto_events *events)
{
    return events->tracks.failed || events->lanes.failed;
}

void perfetto_events_free(struct perfetto_events *events)
{
    numbering_free(&events->tracks);
    perfetto_lanes_free(&events->lanes);
}
