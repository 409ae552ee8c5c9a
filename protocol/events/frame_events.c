#include "frame_events.h"

#include "streams.h"
#include "../client/client.h"
#include "../timeline/frame_rate.h"

/* Of one turn; each is a small event. */
enum { FRAMES_MAX = 256, WORK_FRAME = 256, TURN_US = 200000 };

static json_t *frame_json(const struct timeline_event *frame)
{
    struct frame_parts parts = frame_parts_of(frame);

    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "number", (json_int_t)frame->id, "startTime",
                     (json_int_t)(frame->start_ns / 1000), "elapsed", (json_int_t)parts.elapsed,
                     "build", (json_int_t)parts.build, "raster", (json_int_t)parts.raster,
                     "vsyncOverhead", (json_int_t)parts.vsync_overhead);
}

/* False: there is no room for it now. */
static bool post(struct service *service, const struct timeline_event *frame)
{
    json_t *data = frame_json(frame);
    bool posted = streams_posted(service, STREAM_ID_EXTENSION, "Flutter.Frame", data);

    json_decref(data);
    return posted;
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
    uint32_t seen = 0;

    if (timeline_take(&timeline, service->options.profile, &window) < 0)
        return;
    if (timeline_reset(timeline))
        reader->posted = 0;
    while (timeline_next(timeline, &cursor, &frame)) {
        if (seen++ < reader->posted)
            continue;
        if (!post(service, &frame))
            break;
        reader->posted++;
        work_off(&service->work, WORK_FRAME);
    }
    if (seen == reader->posted) {
        reader->cursor = timeline_cursor(timeline);
        reader->posted = 0;
    }
    if (timeline_more(timeline) || reader->posted)
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
