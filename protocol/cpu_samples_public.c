/*
 * cpu_samples_public.c - the CpuSamples that DevTools, Observatory and the IDE plugins read.
 *
 * Functions whose line is known are @Function, the only form that has a place for it; the others
 * are NativeFunction, the one that every known client reads (README.md). Stacks hold indices into
 * "functions", leaf first.
 */
#include "cpu_samples_dialect.h"
#include "refs.h"
#include "sample_words.h"
#include "uris.h"

#include <string.h>

/* In every reply, whatever its samples. Observatory looks for both. */
static const char *const fixed_tags[] = { "Root", "[Truncated]" };
enum { ROOT_TAG, TRUNCATED_TAG, FIXED_TAG_COUNT };

static void put_frame(struct json_text *text, const struct cpu_samples_view *view,
                      const struct snapshot_frame *frame)
{
    (void)view;
    json_text_uint(text, frame->function);
}

static void put_sample(struct json_text *text, struct cpu_samples_view *view,
                       const struct snapshot_sample *sample)
{
    tags_add(&view->tags, sample_vm_tag(sample->state));
    tags_add(&view->tags, snapshot_user_tag(sample->tag, sample->thread_name));
    view->truncated += sample->end != FEED_END_ROOT;
    json_text_literal(text, "{");
    sample_members(text, sample);
    json_text_literal(text, ",\"stack\":");
    cpu_samples_stack(text, view, sample);
    json_text_literal(text, "}");
}

static void put_ticks(struct json_text *text, uint64_t inclusive, uint64_t exclusive)
{
    json_text_literal(text, ",\"inclusiveTicks\":");
    json_text_uint(text, inclusive);
    json_text_literal(text, ",\"exclusiveTicks\":");
    json_text_uint(text, exclusive);
}

static void put_function(struct json_text *text, const struct cpu_samples_view *view,
                         uint32_t index)
{
    const struct snapshot_function *function = &view->functions[index];
    const struct snapshot_library *library = &view->libraries[function->library];

    json_text_literal(text, "{\"type\":\"ProfileFunction\",\"kind\":");
    if (function->kind == SNAPSHOT_STUB)
        json_text_literal(text, "\"Stub\"");
    else
        json_text_literal(text, "\"Native\"");
    put_ticks(text, function->inclusive, function->exclusive);
    json_text_literal(text, ",\"resolvedUrl\":\"");
    uri_resolved(text, library, function->file);
    json_text_literal(text, "\",\"function\":");
    if (ref_has_location(function, library)) {
        json_text_literal(text, "{");
        ref_function(text, "@Function", function, library);
    } else {
        json_text_literal(text, "{\"type\":\"NativeFunction\",\"name\":");
        ref_name(text, function->name);
        json_text_literal(text, ",\"_kind\":\"Native\"");
    }
    json_text_literal(text, "}}");
}

static uint32_t tag_count(const struct cpu_samples_view *view)
{
    return FIXED_TAG_COUNT + view->tags.count;
}

/* Behind the functions, so that no index in a stack moves. */
static void put_tag(struct json_text *text, const struct cpu_samples_view *view, uint32_t index)
{
    bool fixed = index < FIXED_TAG_COUNT;

    json_text_literal(text, "{\"type\":\"ProfileFunction\",\"kind\":\"Tag\"");
    put_ticks(text, index == TRUNCATED_TAG ? view->truncated : 0, 0);
    json_text_literal(text,
                      ",\"resolvedUrl\":\"\",\"function\":{\"type\":\"NativeFunction\",\"name\":");
    json_text_string(text, fixed ? fixed_tags[index] : view->tags.names[index - FIXED_TAG_COUNT]);
    json_text_literal(text, ",\"_kind\":\"Tag\"}}");
}

const struct cpu_samples_dialect cpu_samples_public = {
    .frame = put_frame,
    .sample = put_sample,
    .function = put_function,
    .third_list = NULL,
    .third_count = tag_count,
    .third = put_tag,
};
