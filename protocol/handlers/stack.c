#include "handlers.h"
#include "../client/client.h"
#include "../client/samples_reply.h"
#include "../client/saved.h"
#include "../objects/refs.h"
#include "../../sampler/feed/cleanup.h"
#include "../../sampler/include/isoscope/isoscope.h"

/* What is older does not tell what a thread is doing. */
enum { RECENT_US = 1000000 };

struct stack_source {
    const struct snapshot_function *functions;
    const struct snapshot_frame *frames;
    const struct snapshot_library *libraries;
};

/* The frame's own line, where that is known and in the file that its function is in; else the
 * function's: where a function has a location, so has its frame, or Observatory throws. */
static void add_location(json_t *json, const json_t *function, const struct snapshot_frame *frame)
{
    json_t *location = json_deep_copy(json_object_get(function, "location"));

    if (!location)
        return;
    if (frame->line && !frame->file) {
        json_object_set_new(location, "line", json_integer(frame->line));
        json_object_set_new(location, "tokenPos", json_integer(frame->line));
    }
    json_object_set_new(json, "location", location);
}

static json_t *frame_json(const struct stack_source *source, const struct snapshot_frame *frame,
                          uint32_t index)
{
    const struct snapshot_function *function = &source->functions[frame->function];
    struct json_text text = { 0 };
    json_t *reference, *json;

    ref_function(&text, TYPE_FUNCTION_REF, function, &source->libraries[function->library]);
    reference = ref_json(&text);
    json = json_pack("{s:s, s:s, s:i, s:O, s:o, s:[]}", "type", TYPE_FRAME, "kind", "Regular",
                     "index", (int)index, "function", reference, "code",
                     ref_code(TYPE_CODE_REF, function), "vars");
    add_location(json, reference, frame);
    json_decref(reference);
    return json;
}

static bool newest(struct snapshot *snapshot, struct snapshot_sample *sample)
{
    uint32_t cursor = 0;
    bool found = false;

    while (snapshot_next(snapshot, &cursor, sample))
        found = true;
    return found;
}

static json_t *frames_json(const struct snapshot *snapshot, const struct snapshot_sample *sample,
                           int64_t limit)
{
    uint32_t count;
    struct stack_source source = { snapshot_functions(snapshot, &count),
                                   snapshot_frames(snapshot, &count),
                                   snapshot_libraries(snapshot, &count) };
    json_t *frames = json_array();

    for (uint32_t i = 0; i < sample->depth && i < limit; i++)
        json_array_append_new(frames, frame_json(&source, &source.frames[sample->frames[i]], i));
    return frames;
}

static json_t *stack_json(struct snapshot *snapshot, int64_t limit)
{
    struct snapshot_sample sample;

    if (!newest(snapshot, &sample))
        return json_pack("{s:s, s:[], s:[], s:b}", "type", TYPE_STACK, "frames", "messages",
                         "truncated", 0);
    return json_pack("{s:s, s:o, s:[], s:b, s:I, s:i}", "type", TYPE_STACK, "frames",
                     frames_json(snapshot, &sample, limit), "messages", "truncated",
                     sample.depth > limit, "_timestamp", (json_int_t)sample.timestamp_us, "_tid",
                     (int)sample.tid);
}

int handle_get_stack(struct client *client, const struct get_stack_params *params,
                     struct reply *reply)
{
    CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
    struct snapshot_window window = { .process_id = params->isolate->process->id,
                                      .tid = params->isolate->tid,
                                      .bounded = true,
                                      .partial_names_ok = true,
                                      .extent_us = RECENT_US };
    int rc;

    window.origin_us = service_now_us(client->service) - RECENT_US;
    rc = samples_reply_take(client, reply, &window, &snapshot);
    return rc ? rc : answer(client, reply, stack_json(snapshot, params->limit));
}
