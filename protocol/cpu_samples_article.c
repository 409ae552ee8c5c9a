/*
 * cpu_samples_article.c - the CpuSamples of the DevTools article: _getCpuSamples.
 *
 * Functions and libraries stand once, in tables of their own, and are referenced by id. The
 * article's members are there under exactly its names; ours come behind them.
 */
#include "cpu_samples_dialect.h"
#include "uris.h"

#include <string.h>

static const char *const end_names[] = {
#define END_NAME(name, wire, text) [FEED_END_##name] = wire,
    FEED_ENDS(END_NAME)
#undef END_NAME
};

static const char *const kind_names[] = {
#define KIND_NAME(name, word) [SNAPSHOT_##name] = word,
    SNAPSHOT_KINDS(KIND_NAME)
#undef KIND_NAME
};

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
    json_text_literal(text, "}");
}

/* A stack that is not whole says why. */
static void put_end(struct json_text *text, enum feed_end end)
{
    if (end == FEED_END_ROOT)
        return;
    json_text_literal(text, ",\"truncated\":true");
    if ((size_t)end >= sizeof(end_names) / sizeof(*end_names))
        return;
    json_text_literal(text, ",\"end\":");
    json_text_string(text, end_names[end]);
}

static void put_sample(struct json_text *text, struct cpu_samples_view *view,
                       const struct snapshot_sample *sample)
{
    json_text_literal(text, "{\"timestamp\":");
    json_text_int(text, sample->timestamp_us);
    json_text_literal(text, ",\"tid\":");
    json_text_int(text, sample->tid);
    json_text_literal(text, ",\"stack\":");
    cpu_samples_stack(text, view, sample);
    json_text_literal(text, ",\"vmTag\":");
    json_text_string(text, cpu_samples_vm_tag(sample));
    json_text_literal(text, ",\"userTag\":");
    json_text_string(text, cpu_samples_user_tag(sample));
    json_text_literal(text, ",\"cpuNanos\":");
    json_text_uint(text, sample->cpu_ns);
    if (view->several) {
        json_text_literal(text, ",\"isolateId\":\"isolates/");
        json_text_uint(text, sample->process_id);
        json_text_literal(text, "\"");
    }
    put_end(text, sample->end);
    json_text_literal(text, "}");
}

static void put_id(struct json_text *text, const char *before, const char *id)
{
    json_text_raw(text, before, strlen(before));
    json_text_string(text, id);
}

/* A name that is not the one before it. */
static void put_other_name(struct json_text *text, const char *member, const char *name,
                           const char *before)
{
    if (!strcmp(name, before))
        return;
    json_text_raw(text, member, strlen(member));
    json_text_string(text, name);
}

/* Where it is: in its module, and in the source. */
static void put_origin(struct json_text *text, const struct snapshot_function *function)
{
    if (function->offset != SNAPSHOT_NO_OFFSET) {
        json_text_literal(text, ",\"offset\":");
        json_text_uint(text, function->offset);
    }
    if (function->file) {
        json_text_literal(text, ",\"file\":");
        json_text_string(text, function->file);
    }
    if (function->line) {
        json_text_literal(text, ",\"line\":");
        json_text_uint(text, function->line);
    }
}

static void put_function(struct json_text *text, const struct cpu_samples_view *view,
                         uint32_t index)
{
    const struct snapshot_function *function = &view->functions[index];

    put_id(text, "{\"id\":", function->id);
    json_text_literal(text, ",\"name\":");
    json_text_string(text, function->name);
    put_id(text,
           ",\"owner\":{\"type\":\"@Library\",\"id\":", view->libraries[function->library].id);
    json_text_literal(text, "},\"inclusiveTicks\":");
    json_text_uint(text, function->inclusive);
    json_text_literal(text, ",\"exclusiveTicks\":");
    json_text_uint(text, function->exclusive);
    put_other_name(text, ",\"fullName\":", function->full_name, function->name);
    put_other_name(text, ",\"rawName\":", function->raw_name, function->name);
    json_text_literal(text, ",\"kind\":");
    json_text_string(text, kind_names[function->kind]);
    put_origin(text, function);
    json_text_literal(text, "}");
}

static uint32_t library_count(const struct cpu_samples_view *view)
{
    return view->library_count;
}

static void put_reason(struct json_text *text, const char *member, const char *reason)
{
    if (!reason)
        return;
    json_text_raw(text, member, strlen(member));
    json_text_string(text, reason);
}

static void put_library(struct json_text *text, const struct cpu_samples_view *view, uint32_t index)
{
    const struct snapshot_library *library = &view->libraries[index];

    put_id(text, "{\"id\":", library->id);
    json_text_literal(text, ",\"uri\":\"");
    uri_library(text, library);
    json_text_literal(text, "\",\"name\":");
    json_text_string(text, library->name);
    json_text_literal(text, ",\"path\":");
    json_text_string(text, library->path);
    json_text_literal(text, ",\"buildId\":");
    json_text_string(text, library->build_id);
    json_text_literal(text, ",\"loadBias\":");
    json_text_uint(text, library->load_bias);
    put_reason(text, ",\"reason\":", library->reason);
    put_reason(text, ",\"linesReason\":", library->lines_reason);
    if (library->system)
        json_text_literal(text, ",\"system\":true}");
    else
        json_text_literal(text, ",\"system\":false}");
}

const struct cpu_samples_dialect cpu_samples_article = {
    .frame = put_frame,
    .sample = put_sample,
    .function = put_function,
    .third_list = "libraries",
    .third_count = library_count,
    .third = put_library,
};
