#include "cpu_samples_writer.h"

#include "cpu_samples_dialect.h"
#include "../../sampler/include/isoscope/isoscope.h"

#include <stdlib.h>
#include <string.h>

enum { WORK_FRAME = 32 };

enum part { PART_FRAMES, PART_SAMPLES, PART_FUNCTIONS, PART_THIRD, PART_CODES, PART_END };

struct cpu_samples_writer {
    struct reply_stream stream; /* the first: this is one */
    const struct cpu_samples_dialect *dialect;
    struct snapshot *snapshot;
    struct cpu_samples_view view;
    enum part part;
    uint32_t cursor; /* of snapshot_next, or the index of the next entry */
    bool any;        /* the list has an entry already */
};

static void put_type(struct json_text *text, const struct cpu_samples_options *options)
{
    if (!options->user_tag)
        return json_text_literal(text, "{\"type\":\"CpuSamples\"");
    json_text_literal(text, "{\"type\":\"CachedCpuSamples\",\"userTag\":");
    json_text_string(text, options->user_tag);
    if (options->evicted)
        json_text_literal(text, ",\"truncated\":true");
    else
        json_text_literal(text, ",\"truncated\":false");
}

/* timeOriginMicros and timeExtentMicros tell of the samples that are there, not of the window
 * that was asked for: clients poll on from what they got. */
static void put_head(struct json_text *text, const struct snapshot *snapshot,
                     const struct cpu_samples_options *options)
{
    int64_t first = snapshot_first_us(snapshot);

    json_text_raw(text, options->envelope, strlen(options->envelope));
    put_type(text, options);
    json_text_member(text, ",\"samplePeriod\":", snapshot_period_us(snapshot));
    json_text_member(text, ",\"maxStackDepth\":", snapshot_depth_max(snapshot));
    json_text_member(text, ",\"sampleCount\":", snapshot_sample_count(snapshot));
    json_text_member(text, ",\"timeOriginMicros\":", first);
    json_text_member(text, ",\"timeExtentMicros\":", snapshot_last_us(snapshot) - first);
    json_text_member(text, ",\"pid\":", options->pid);
    if (options->tells_progress) {
        json_text_member(text, ",\"_symbols\":{\"done\":", options->symbols.done);
        json_text_member(text, ",\"asked\":", options->symbols.asked);
        json_text_literal(text, "}");
    }
    json_text_literal(text, ",\"_counters\":");
    json_text_raw(text, options->counters, strlen(options->counters));
    json_text_literal(text, ",\"samples\":[");
}

static void open_list(struct cpu_samples_writer *writer, const char *name)
{
    json_text_literal(&writer->stream.carry, "],\"");
    json_text_raw(&writer->stream.carry, name, strlen(name));
    json_text_literal(&writer->stream.carry, "\":[");
    writer->any = false;
}

static void next_part(struct cpu_samples_writer *writer)
{
    const char *third = writer->dialect->third_list;

    writer->part++;
    writer->cursor = 0;
    if (writer->part == PART_FUNCTIONS)
        open_list(writer, "functions");
    else if (writer->part == PART_THIRD && third)
        open_list(writer, third);
    else if (writer->part == PART_CODES && writer->view.codes.ticks)
        open_list(writer, "_codes");
}

static uint32_t code_count(const struct cpu_samples_writer *writer)
{
    return writer->view.codes.ticks ? writer->dialect->code_count(&writer->view) : 0;
}

static void compose_frame(struct cpu_samples_view *view, const struct cpu_samples_dialect *dialect,
                          const struct snapshot_frame *frame)
{
    struct frame_texts *texts = &view->frame_texts;

    json_text_literal(&texts->text, ",");
    dialect->frame(&texts->text, view, frame);
    frame_texts_add(texts);
    if (view->codes.ticks)
        sample_codes_add(&view->codes, frame);
}

static void compose_next_frame(struct cpu_samples_writer *writer)
{
    struct cpu_samples_view *view = &writer->view;

    work_off(writer->stream.work, WORK_FRAME);
    if (writer->cursor < view->frame_count)
        return compose_frame(view, writer->dialect, &view->frames[writer->cursor++]);
    writer->stream.failed = frame_texts_end(&view->frame_texts) < 0 ||
                            (view->codes.ticks && frame_texts_end(&view->codes.texts) < 0);
    next_part(writer);
}

static void put_next_sample(struct cpu_samples_writer *writer)
{
    struct snapshot_sample sample;

    if (!snapshot_ready(writer->snapshot, writer->cursor, writer->stream.work))
        return;
    if (!snapshot_next(writer->snapshot, &writer->cursor, &sample))
        return next_part(writer);
    json_text_comma(&writer->stream.carry, &writer->any);
    writer->dialect->sample(&writer->stream.carry, &writer->view, &sample);
}

static void put_next_entry(struct cpu_samples_writer *writer, uint32_t count,
                           void (*put)(struct json_text *, const struct cpu_samples_view *,
                                       uint32_t))
{
    if (writer->cursor >= count)
        return next_part(writer);
    json_text_comma(&writer->stream.carry, &writer->any);
    put(&writer->stream.carry, &writer->view, writer->cursor++);
}

static void put_next(struct reply_stream *stream)
{
    struct cpu_samples_writer *writer = (struct cpu_samples_writer *)stream;
    const struct cpu_samples_dialect *dialect = writer->dialect;

    switch (writer->part) {
    case PART_FRAMES:
        compose_next_frame(writer);
        break;
    case PART_SAMPLES:
        put_next_sample(writer);
        break;
    case PART_FUNCTIONS:
        put_next_entry(writer, writer->view.function_count, dialect->function);
        break;
    case PART_THIRD:
        put_next_entry(writer, dialect->third_count(&writer->view), dialect->third);
        break;
    case PART_CODES:
        put_next_entry(writer, code_count(writer), dialect->code);
        break;
    case PART_END:
        json_text_literal(&stream->carry, "]}}");
        stream->done = true;
        break;
    }
    stream->failed |= writer->view.tags.failed;
}

static void free_writer(struct reply_stream *stream)
{
    struct cpu_samples_writer *writer = (struct cpu_samples_writer *)stream;

    snapshot_free(writer->snapshot);
    tags_free(&writer->view.tags);
    frame_texts_free(&writer->view.frame_texts);
    sample_codes_free(&writer->view.codes);
    free(writer);
}

static const struct reply_stream_kind kind = { put_next, free_writer };

static int begin_writing(struct cpu_samples_writer *writer,
                         const struct cpu_samples_options *options)
{
    struct cpu_samples_view *view = &writer->view;

    put_head(&writer->stream.carry, writer->snapshot, options);
    if (writer->stream.carry.failed || frame_texts_begin(&view->frame_texts, view->frame_count) < 0)
        return -ISOSCOPE_NO_MEMORY;
    return options->codes ? sample_codes_begin(&view->codes, view->frames, view->frame_count,
                                               view->function_count)
                          : 0;
}

int cpu_samples_writer_new(struct reply_stream **out, struct snapshot *snapshot,
                           const struct cpu_samples_options *options)
{
    struct cpu_samples_writer *writer = calloc(1, sizeof(*writer));

    if (!writer) {
        snapshot_free(snapshot);
        return -ISOSCOPE_NO_MEMORY;
    }
    writer->stream.kind = &kind;
    writer->dialect = options->dialect;
    writer->snapshot = snapshot;
    writer->view.pcs = options->pcs;
    writer->view.several = options->several;
    writer->view.kind = options->kind;
    writer->view.functions = snapshot_functions(snapshot, &writer->view.function_count);
    writer->view.frames = snapshot_frames(snapshot, &writer->view.frame_count);
    writer->view.libraries = snapshot_libraries(snapshot, &writer->view.library_count);
    if (begin_writing(writer, options) < 0) {
        reply_stream_free(&writer->stream);
        return -ISOSCOPE_NO_MEMORY;
    }
    *out = &writer->stream;
    return 0;
}
