#include "loop_stats_writer.h"

#include "stall_json.h"
#include "stall_words.h"
#include "../timeline/frame_rate.h"
#include "../../sampler/include/isoscope/isoscope.h"
#include "../../sampler/profile/timeline.h"

#include <stdlib.h>
#include <string.h>

enum { WORK_LOOP = 1 << 12, WORK_FRAME = 32, REFRESH_RATE = 60, SECOND_NS = 1000000000 };
enum { CPU_HIGH_MAX = 64 };

enum part { PART_LOOPS, PART_UNWATCHED, PART_FRAMES, PART_CPU_HIGH };

struct loop_stats_writer {
    struct reply_stream stream; /* the first: this is one */
    struct profile *profile;
    uint64_t process_id;
    int32_t tid;
    enum part part;
    size_t next; /* of its part */
    bool any;    /* of its list */
    struct loop_info *loops;
    struct unwatched_thread *unwatched;
    struct cpu_high high[CPU_HIGH_MAX];
    size_t loop_count, unwatched_count, high_count;
    struct timeline *frames;
    uint64_t cursor, frame_count, dropped, levels[FRAME_LEVELS];
};

static bool is_wanted(const struct loop_stats_writer *writer, uint64_t process_id, int32_t tid)
{
    return (!writer->process_id || process_id == writer->process_id) &&
           (!writer->tid || tid == writer->tid);
}

/* Takes over json. */
static void put(struct loop_stats_writer *writer, json_t *json)
{
    struct reply_stream *stream = &writer->stream;
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;

    stream->failed |= !text;
    if (text)
        json_text_raw(&stream->carry, text, strlen(text));
    free(text);
    json_decref(json);
}

static void put_entry(struct loop_stats_writer *writer, json_t *json)
{
    json_text_comma(&writer->stream.carry, &writer->any);
    put(writer, json);
    work_off(writer->stream.work, WORK_LOOP);
}

static void put_loop(struct loop_stats_writer *writer)
{
    const struct loop_info *loop = &writer->loops[writer->next++];

    if (is_wanted(writer, loop->process_id, loop->tid))
        put_entry(writer, loop_json(loop, stall_pid(writer->profile, loop->process_id)));
}

static void put_unwatched(struct loop_stats_writer *writer)
{
    const struct unwatched_thread *thread = &writer->unwatched[writer->next++];

    if (is_wanted(writer, thread->process_id, thread->tid))
        put_entry(writer, unwatched_json(thread, stall_pid(writer->profile, thread->process_id)));
}

static void put_cpu_high(struct loop_stats_writer *writer)
{
    const struct cpu_high *high = &writer->high[writer->next++];
    char thread[THREAD_NAME_BYTES];

    if (!is_wanted(writer, high->process_id, high->tid))
        return;
    thread_name_of(thread, writer->profile, high->process_id, high->tid);
    put_entry(writer, cpu_high_json(high, stall_pid(writer->profile, high->process_id), thread));
}

/* False: that was the last. */
static bool count_frame(struct loop_stats_writer *writer)
{
    struct timeline_event frame;
    uint64_t dropped;

    work_off(writer->stream.work, WORK_FRAME);
    if (!timeline_next(writer->frames, &writer->cursor, &frame))
        return false;
    dropped = frame.duration_ns / (SECOND_NS / REFRESH_RATE);
    writer->frame_count++;
    writer->dropped += dropped;
    writer->levels[frame_level_of(dropped)]++;
    return true;
}

static void put_frames(struct loop_stats_writer *writer)
{
    const uint64_t *levels = writer->levels;

    put(writer,
        json_pack("{s:i, s:I, s:I, s:{s:I, s:I, s:I, s:I, s:I}}", "refreshRate", REFRESH_RATE,
                  "count", (json_int_t)writer->frame_count, "dropped", (json_int_t)writer->dropped,
                  "levels", "best", (json_int_t)levels[FRAME_BEST], "normal",
                  (json_int_t)levels[FRAME_NORMAL], "middle", (json_int_t)levels[FRAME_MIDDLE],
                  "high", (json_int_t)levels[FRAME_HIGH], "frozen",
                  (json_int_t)levels[FRAME_FROZEN]));
}

static void begin_part(struct loop_stats_writer *writer, enum part part)
{
    writer->part = part;
    writer->next = 0;
    writer->any = false;
}

static void put_next(struct reply_stream *stream)
{
    struct loop_stats_writer *writer = (struct loop_stats_writer *)stream;
    struct json_text *text = &stream->carry;

    switch (writer->part) {
    case PART_LOOPS:
        if (writer->next < writer->loop_count)
            return put_loop(writer);
        json_text_literal(text, "],\"unwatched\":[");
        return begin_part(writer, PART_UNWATCHED);
    case PART_UNWATCHED:
        if (writer->next < writer->unwatched_count)
            return put_unwatched(writer);
        json_text_literal(text, "],\"frames\":");
        return begin_part(writer, PART_FRAMES);
    case PART_FRAMES:
        while (count_frame(writer))
            if (*stream->work <= 0)
                return;
        put_frames(writer);
        json_text_literal(text, ",\"cpuHigh\":[");
        return begin_part(writer, PART_CPU_HIGH);
    case PART_CPU_HIGH:
        if (writer->next < writer->high_count)
            return put_cpu_high(writer);
        json_text_literal(text, "]}}");
        stream->done = true;
    }
}

static void free_writer(struct reply_stream *stream)
{
    struct loop_stats_writer *writer = (struct loop_stats_writer *)stream;

    timeline_free(writer->frames);
    free(writer->loops);
    free(writer->unwatched);
    free(writer);
}

static const struct reply_stream_kind kind = { put_next, free_writer };

static size_t at_most(size_t count, size_t capacity)
{
    return count < capacity ? count : capacity;
}

/* False: no memory. Those that come meanwhile are told the next time. */
static bool take_loops(struct loop_stats_writer *writer)
{
    struct profile *profile = writer->profile;
    uint64_t process_id = writer->process_id;
    size_t loops = profile_loops(profile, process_id, NULL, 0);
    size_t threads = profile_unwatched(profile, process_id, NULL, 0);

    writer->loops = calloc(loops + 1, sizeof(*writer->loops));
    writer->unwatched = calloc(threads + 1, sizeof(*writer->unwatched));
    if (!writer->loops || !writer->unwatched)
        return false;
    writer->loop_count = at_most(profile_loops(profile, process_id, writer->loops, loops), loops);
    writer->unwatched_count =
        at_most(profile_unwatched(profile, process_id, writer->unwatched, threads), threads);
    writer->high_count =
        at_most(profile_cpu_high(profile, 0, writer->high, CPU_HIGH_MAX), CPU_HIGH_MAX);
    return true;
}

static void put_head(struct loop_stats_writer *writer, const char *envelope)
{
    struct stall_settings settings = profile_stall_settings(writer->profile);
    struct json_text *text = &writer->stream.carry;

    json_text_raw(text, envelope, strlen(envelope));
    json_text_literal(text, "{\"type\":\"_LoopStats\",\"limits\":");
    put(writer, loop_limits_json(settings.limits_ms));
    json_text_literal(text, ",\"watch\":");
    json_text_string(text, stall_watch_text(&settings));
    json_text_literal(text, ",\"loops\":[");
}

int loop_stats_writer_new(struct reply_stream **out, struct profile *profile, uint64_t process_id,
                          int32_t tid, const char *envelope)
{
    struct loop_stats_writer *writer = calloc(1, sizeof(*writer));
    struct timeline_window window = { .process_id = process_id,
                                      .tid = tid,
                                      .kinds = 1u << TIMELINE_FRAME };
    int rc = writer ? 0 : -ISOSCOPE_NO_MEMORY;

    if (rc)
        return rc;
    writer->stream.kind = &kind;
    writer->profile = profile;
    writer->process_id = process_id;
    writer->tid = tid;
    rc =
        take_loops(writer) ? timeline_take(&writer->frames, profile, &window) : -ISOSCOPE_NO_MEMORY;
    if (rc) {
        reply_stream_free(&writer->stream);
        return rc;
    }
    put_head(writer, envelope);
    *out = &writer->stream;
    return 0;
}
