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

static const char frame_open[] = "{\"function\":{\"type\":\"@Function\",\"id\":\"";
static const char frame_close[] = "\"},\"kind\":\"Native\"}";

/* Ids are ours, plain ASCII: nothing to escape, and most of the reply's bytes. */
static void put_stack(struct json_text *text, const struct cpu_samples_view *view,
                      const struct snapshot_sample *sample)
{
    for (uint32_t i = 0; i < sample->depth; i++) {
        const char *id = view->functions[sample->functions[i]].id;

        if (i)
            json_text_literal(text, ",");
        json_text_raw(text, frame_open, sizeof(frame_open) - 1);
        json_text_raw(text, id, strlen(id));
        json_text_raw(text, frame_close, sizeof(frame_close) - 1);
    }
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
    json_text_literal(text, ",\"stack\":[");
    put_stack(text, view, sample);
    json_text_literal(text, "],\"vmTag\":");
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
    if (strcmp(function->raw_name, function->name)) {
        json_text_literal(text, ",\"rawName\":");
        json_text_string(text, function->raw_name);
    }
    json_text_literal(text, "}");
}

static uint32_t library_count(const struct cpu_samples_view *view)
{
    return view->library_count;
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
    if (library->system)
        json_text_literal(text, ",\"system\":true}");
    else
        json_text_literal(text, ",\"system\":false}");
}

const struct cpu_samples_dialect cpu_samples_article = {
    .sample = put_sample,
    .function = put_function,
    .third_list = "libraries",
    .third_count = library_count,
    .third = put_library,
};
