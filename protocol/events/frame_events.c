#include "frame_events.h"

#include "streams.h"
#include "../client/client.h"
#include "../text/any_text.h"
#include "../timeline/frame_rate.h"

#include <inttypes.h>

/* Of one turn; each is a small event, or two. */
enum { FRAMES_MAX = 256, WORK_FRAME = 256, TURN_US = 200000, EVENTS_OF_FRAME = 2 };
enum { BUDGET_NS = 1000000000 / 60 };

static json_t *frame_json(const struct timeline_event *frame)
{
    struct frame_parts parts = frame_parts_of(frame);

    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "number", (json_int_t)frame->id, "startTime",
                     (json_int_t)(frame->start_ns / 1000), "elapsed", (json_int_t)parts.elapsed,
                     "build", (json_int_t)parts.build, "raster", (json_int_t)parts.raster,
                     "vsyncOverhead", (json_int_t)parts.vsync_overhead);
}

static json_t *late_frame_json(const struct timeline_event *frame, uint64_t dropped)
{
    json_t *json = frame_json(frame);
    json_auto_t *more =
        json_pack("{s:o, s:i, s:o, s:I, s:s}", "isolateId",
                  json_sprintf("isolates/%" PRIu64, frame->process_id), "tid", frame->tid, "name",
                  any_text(frame->name), "dropped", (json_int_t)dropped, "level",
                  frame_level_words[frame_level_of(dropped)]);

    json_object_update(json, more);
    return json;
}

/* Takes over data. False: there is no room for it now. */
static bool post(struct service *service, const char *kind, json_t *data)
{
    bool posted = streams_posted(service, STREAM_ID_EXTENSION, kind, data);

    json_decref(data);
    if (posted)
        work_off(&service->work, WORK_FRAME);
    return posted;
}

/* Its events, of which the first so many are left out. Returns how many of all are posted now. */
static uint32_t post_frame(struct service *service, const struct timeline_event *frame,
                           uint32_t posted)
{
    uint64_t dropped = frame->duration_ns / BUDGET_NS;

    if (posted == 0 && !post(service, "Flutter.Frame", frame_json(frame)))
        return 0;
    if (!dropped)
        return EVENTS_OF_FRAME;
    return post(service, "Isoscope.Frame", late_frame_json(frame, dropped)) ? EVENTS_OF_FRAME : 1;
}

/* Those that were posted already, before there was no room, come again and are left out. */
static void post_frames(struct service *service)
{
    struct frame_reader *reader = &service->frames;
    struct timeline_window window = { .since = &reader->cursor,
                                      .count_max = FRAMES_MAX,
                                      .kinds = 1u << TIMELINE_FRAME };
    struct timeline *timeline = NULL;
    struct timeline_event frame;
    uint64_t cursor = 0;
    uint32_t seen = 0, left_out;
    bool held_back;

    if (timeline_take(&timeline, service->options.profile, &window) < 0)
        return;
    if (timeline_reset(timeline))
        reader->posted = 0;
    while (timeline_next(timeline, &cursor, &frame)) {
        seen += EVENTS_OF_FRAME;
        if (seen <= reader->posted)
            continue;
        left_out = reader->posted - (seen - EVENTS_OF_FRAME);
        reader->posted += post_frame(service, &frame, left_out) - left_out;
        if (seen > reader->posted)
            break;
    }
    held_back = seen > reader->posted;
    if (!held_back) {
        reader->cursor = timeline_cursor(timeline);
        reader->posted = 0;
    }
    if (timeline_more(timeline) || held_back)
        service_poll_in(service, TURN_US / 20);
    timeline_free(timeline);
}

void frame_events_poll(struct service *service)
{
    bool heard = streams_heard(service, STREAM_ID_EXTENSION);
    int64_t now_us = service->options.monotonic_us();

    if (heard && !service->frames.heard)
        service->frames = (struct frame_reader){ .cursor = timeline_end(service) };
    service->frames.heard = heard;
    if (!heard)
        return;
    if (service->frames.looked_us + TURN_US / 20 > now_us)
        return service_poll_in(service, service->frames.looked_us + TURN_US / 20 - now_us);
    service->frames.looked_us = now_us;
    post_frames(service);
}
