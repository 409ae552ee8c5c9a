#include "frames_writer.h"

#include "frame_rate.h"
#include "../../sampler/include/isoscope/isoscope.h"

#include <stdlib.h>
#include <string.h>

enum { WORK_FRAME = 32, SECOND_NS = 1000000000 };

struct frames_writer {
    struct reply_stream stream; /* the first: this is one */
    struct timeline *timeline;
    struct timeline_span span;
    uint64_t cursor, budget_ns;
    struct frame_rates rates;
    bool any;
    uint64_t count, dropped, levels[FRAME_LEVELS];
};

static bool is_in_span(const struct frames_writer *writer, const struct timeline_event *frame)
{
    int64_t end_us = (frame->start_ns + (int64_t)frame->duration_ns) / 1000;

    return !writer->span.bounded ||
           (end_us >= writer->span.from_us && frame->start_ns / 1000 <= writer->span.to_us);
}

static void put_figures(struct json_text *text, const struct timeline_event *frame)
{
    struct frame_parts parts = frame_parts_of(frame);

    json_text_literal(text, ",\"number\":");
    json_text_uint(text, frame->id);
    json_text_member(text, ",\"startTime\":", frame->start_ns / 1000);
    json_text_member(text, ",\"elapsed\":", (int64_t)parts.elapsed);
    json_text_member(text, ",\"build\":", (int64_t)parts.build);
    json_text_member(text, ",\"raster\":", (int64_t)parts.raster);
    json_text_member(text, ",\"vsyncOverhead\":", (int64_t)parts.vsync_overhead);
}

static void put_frame(struct frames_writer *writer, const struct timeline_event *frame,
                      uint32_t fps)
{
    struct json_text *text = &writer->stream.carry;
    uint64_t dropped = frame->duration_ns / writer->budget_ns;
    enum frame_level level = frame_level_of(dropped);

    json_text_comma(text, &writer->any);
    json_text_literal(text, "{\"isolateId\":\"isolates/");
    json_text_uint(text, frame->process_id);
    json_text_member(text, "\",\"tid\":", frame->tid);
    json_text_literal(text, ",\"name\":");
    json_text_string(text, frame->name);
    put_figures(text, frame);
    json_text_member(text, ",\"dropped\":", (int64_t)dropped);
    json_text_literal(text, ",\"level\":");
    json_text_string(text, frame_level_words[level]);
    json_text_member(text, ",\"fps\":", fps);
    json_text_literal(text, "}");
    writer->count++;
    writer->dropped += dropped;
    writer->levels[level]++;
}

static void put_end(struct frames_writer *writer)
{
    struct json_text *text = &writer->stream.carry;

    json_text_member(text, "],\"frameCount\":", (int64_t)writer->count);
    json_text_member(text, ",\"dropped\":", (int64_t)writer->dropped);
    json_text_member(text, ",\"levels\":{\"best\":", (int64_t)writer->levels[FRAME_BEST]);
    json_text_member(text, ",\"normal\":", (int64_t)writer->levels[FRAME_NORMAL]);
    json_text_member(text, ",\"middle\":", (int64_t)writer->levels[FRAME_MIDDLE]);
    json_text_member(text, ",\"high\":", (int64_t)writer->levels[FRAME_HIGH]);
    json_text_member(text, ",\"frozen\":", (int64_t)writer->levels[FRAME_FROZEN]);
    json_text_literal(text, "}}}");
    writer->stream.done = true;
}

static void put_next(struct reply_stream *stream)
{
    struct frames_writer *writer = (struct frames_writer *)stream;
    struct timeline_event frame;
    uint32_t fps;

    work_off(stream->work, WORK_FRAME);
    if (!timeline_next(writer->timeline, &writer->cursor, &frame))
        return put_end(writer);
    fps = frame_rate_add(&writer->rates, &frame);
    stream->failed = writer->rates.failed;
    if (is_in_span(writer, &frame))
        put_frame(writer, &frame, fps);
}

static void free_writer(struct reply_stream *stream)
{
    struct frames_writer *writer = (struct frames_writer *)stream;

    timeline_free(writer->timeline);
    frame_rates_free(&writer->rates);
    free(writer);
}

static const struct reply_stream_kind kind = { put_next, free_writer };

int frames_writer_new(struct reply_stream **out, struct timeline *timeline,
                      const struct timeline_span *span, uint32_t refresh_rate, const char *envelope)
{
    struct frames_writer *writer = calloc(1, sizeof(*writer));

    if (!writer) {
        timeline_free(timeline);
        return -ISOSCOPE_NO_MEMORY;
    }
    writer->stream.kind = &kind;
    writer->timeline = timeline;
    writer->span = *span;
    writer->budget_ns = SECOND_NS / refresh_rate;
    json_text_raw(&writer->stream.carry, envelope, strlen(envelope));
    json_text_member(&writer->stream.carry,
                     "{\"type\":\"_TimelineFrames\",\"refreshRate\":", refresh_rate);
    json_text_member(&writer->stream.carry,
                     ",\"budgetMicros\":", (int64_t)(writer->budget_ns + 500) / 1000);
    json_text_literal(&writer->stream.carry, ",\"frames\":[");
    *out = &writer->stream;
    return 0;
}
