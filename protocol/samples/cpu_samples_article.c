/*
 * cpu_samples_article.c - the CpuSamples of the DevTools article: _getCpuSamples.
 *
 * Functions and libraries stand once, in tables of their own, and are referenced by id. The
 * article's members are there under exactly its names; ours come behind them.
 */
#include "cpu_samples_dialect.h"
#include "describe_json.h"
#include "sample_words.h"

/* What the debug data tells; most frames of most programs have none. */
static void put_place(struct json_text *text, const struct snapshot_frame *frame)
{
    if (frame->line) {
        json_text_literal(text, ",\"line\":");
        json_text_uint(text, frame->line);
    }
    if (frame->file) {
        json_text_literal(text, ",\"file\":");
        json_text_string(text, frame->file);
    }
    if (frame->inlined)
        json_text_literal(text, ",\"inlined\":true");
}

static void put_frame(struct json_text *text, const struct cpu_samples_view *view,
                      const struct snapshot_frame *frame)
{
    json_text_literal(text, "{\"function\":{\"type\":\"@Function\",\"id\":");
    json_text_string(text, view->functions[frame->function].id);
    json_text_literal(text, "},\"kind\":\"Native\"");
    put_place(text, frame);
    if (view->pcs && frame->offset != SNAPSHOT_NO_OFFSET) {
        json_text_literal(text, ",\"offset\":");
        json_text_uint(text, frame->offset);
    }
    json_text_literal(text, "}");
}

/* A stack that is not whole says why. */
static void put_end(struct json_text *text, enum feed_end end)
{
    if (end == FEED_END_ROOT)
        return;
    json_text_literal(text, ",\"truncated\":true");
    if (!sample_end_word(end))
        return;
    json_text_literal(text, ",\"end\":");
    json_text_string(text, sample_end_word(end));
}

static void put_memory(struct json_text *text, const struct snapshot_sample *sample)
{
    json_text_literal(text, ",\"bytes\":");
    json_text_uint(text, sample->weight);
    json_text_literal(text, ",\"objects\":");
    json_text_double(text, sample->objects);
}

static void put_wait(struct json_text *text, const struct snapshot_sample *sample)
{
    json_text_literal(text, ",\"waitNanos\":");
    json_text_uint(text, sample->weight);
    json_text_literal(text, ",\"waits\":");
    json_text_double(text, sample->objects);
    json_text_literal(text, ",\"waitedFor\":");
    json_text_string(text, sample_wait_word(sample->wait.what));
    if (!sample->wait.holder)
        return;
    json_text_literal(text, ",\"holder\":");
    json_text_int(text, sample->wait.holder);
}

static void put_weight(struct json_text *text, const struct cpu_samples_view *view,
                       const struct snapshot_sample *sample)
{
    json_text_literal(text, ",\"cpuNanos\":");
    json_text_uint(text, sample_kind_is_many(view->kind) ? 0 : sample->weight);
    if (sample_kind_is_memory(view->kind))
        put_memory(text, sample);
    if (sample_kind_is_waits(view->kind))
        put_wait(text, sample);
    if (view->kind != SAMPLES_OF_FAULTS)
        return;
    json_text_literal(text, ",\"faults\":");
    json_text_uint(text, sample->weight);
}

static void put_sample(struct json_text *text, struct cpu_samples_view *view,
                       const struct snapshot_sample *sample)
{
    json_text_literal(text, "{\"timestamp\":");
    json_text_int(text, sample->timestamp_us);
    json_text_literal(text, ",\"tid\":");
    json_text_int(text, sample->tid);
    json_text_literal(text, ",\"stack\":");
    frame_texts_put(&view->frame_texts, text, sample->frames, sample->depth);
    json_text_literal(text, ",\"vmTag\":");
    json_text_string(text, sample_vm_tag(sample->state));
    json_text_literal(text, ",\"userTag\":");
    json_text_string(text, snapshot_user_tag(sample->tag, sample->thread_name));
    put_weight(text, view, sample);
    if (view->several) {
        json_text_literal(text, ",\"isolateId\":\"isolates/");
        json_text_uint(text, sample->process_id);
        json_text_literal(text, "\"");
    }
    put_end(text, sample->end);
    json_text_literal(text, "}");
}

static void put_function(struct json_text *text, const struct cpu_samples_view *view,
                         uint32_t index)
{
    const struct snapshot_function *function = &view->functions[index];

    json_text_literal(text, "{");
    describe_function_json(text, function, &view->libraries[function->library]);
    json_text_literal(text, ",\"inclusiveTicks\":");
    json_text_uint(text, function->inclusive);
    json_text_literal(text, ",\"exclusiveTicks\":");
    json_text_uint(text, function->exclusive);
    json_text_literal(text, "}");
}

static uint32_t library_count(const struct cpu_samples_view *view)
{
    return view->library_count;
}

static void put_library(struct json_text *text, const struct cpu_samples_view *view, uint32_t index)
{
    describe_library_json(text, &view->libraries[index]);
}

const struct cpu_samples_dialect cpu_samples_article = {
    .frame = put_frame,
    .sample = put_sample,
    .function = put_function,
    .third_list = "libraries",
    .third_count = library_count,
    .third = put_library,
};
