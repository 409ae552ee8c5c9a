/*
 * cpu_samples_public.c - the CpuSamples that DevTools, Observatory and the IDE plugins read.
 *
 * Functions whose line is known are @Function, the only form that has a place for it; the others
 * are NativeFunction, the one that every known client reads (README.md). Stacks hold indices into
 * "functions", leaf first.
 */
#include "cpu_samples_dialect.h"
#include "sample_words.h"
#include "../objects/codes.h"
#include "../objects/refs.h"
#include "../objects/uris.h"

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
    frame_texts_put(&view->frame_texts, text, sample->frames, sample->depth);
    if (view->codes.ticks) {
        json_text_literal(text, ",\"_codeStack\":");
        sample_codes_stack(&view->codes, text, sample);
    }
    json_text_literal(text, "}");
}

/* A function's code has its number; a tag's comes behind those. */
static void put_codes(struct json_text *text, const struct cpu_samples_view *view, uint32_t code)
{
    if (!view->codes.ticks)
        return;
    json_text_literal(text, ",\"_codes\":[");
    json_text_uint(text, code);
    json_text_literal(text, "]");
}

static void put_function(struct json_text *text, const struct cpu_samples_view *view,
                         uint32_t index)
{
    const struct snapshot_function *function = &view->functions[index];
    const struct snapshot_library *library = &view->libraries[function->library];

    json_text_literal(text, "{\"type\":\"ProfileFunction\",\"kind\":");
    json_text_string(text, function_kind(function));
    code_ticks_json(text, function->inclusive, function->exclusive);
    put_codes(text, view, index);
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

static const char *tag_name(const struct cpu_samples_view *view, uint32_t index)
{
    return index < FIXED_TAG_COUNT ? fixed_tags[index] : view->tags.names[index - FIXED_TAG_COUNT];
}

static uint64_t tag_ticks(const struct cpu_samples_view *view, uint32_t index)
{
    return index == TRUNCATED_TAG ? view->truncated : 0;
}

/* Behind the functions, so that no index in a stack moves. */
static void put_tag(struct json_text *text, const struct cpu_samples_view *view, uint32_t index)
{
    json_text_literal(text, "{\"type\":\"ProfileFunction\",\"kind\":\"Tag\"");
    code_ticks_json(text, tag_ticks(view, index), 0);
    put_codes(text, view, view->function_count + index);
    json_text_literal(text,
                      ",\"resolvedUrl\":\"\",\"function\":{\"type\":\"NativeFunction\",\"name\":");
    json_text_string(text, tag_name(view, index));
    json_text_literal(text, ",\"_kind\":\"Tag\"}}");
}

static uint32_t code_count(const struct cpu_samples_view *view)
{
    return view->function_count + tag_count(view);
}

static void put_code(struct json_text *text, const struct cpu_samples_view *view, uint32_t index)
{
    if (index < view->function_count) {
        const struct code_ticks *ticks = &view->codes.ticks[index];

        code_json(text, &view->functions[index], ticks->inclusive, ticks->exclusive);
    } else {
        uint32_t tag = index - view->function_count;

        code_tag_json(text, tag_name(view, tag), index, tag_ticks(view, tag));
    }
}

const struct cpu_samples_dialect cpu_samples_public = {
    .frame = put_frame,
    .sample = put_sample,
    .function = put_function,
    .third_list = NULL,
    .third_count = tag_count,
    .third = put_tag,
    .code_count = code_count,
    .code = put_code,
};
