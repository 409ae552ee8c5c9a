#include "old_profile.h"

#include "path_walk.h"
#include "paths.h"
#include "../objects/codes.h"
#include "../objects/refs.h"
#include "../../sampler/include/isoscope/isoscope.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct old_profile {
    struct reply_stream stream; /* the first: this is one */
    struct snapshot *snapshot;
    struct paths paths;
    struct path_walk walk;
    uint32_t list; /* index into lists */
    bool opened;   /* it has begun */
    uint32_t next; /* of the entries */
    bool any;      /* the list has an entry already */
};

void old_profile_head(struct json_text *text, const char *envelope, const struct snapshot *snapshot,
                      const char *type)
{
    int64_t first_us = snapshot_first_us(snapshot), span_us = snapshot_last_us(snapshot) - first_us;
    char head[256];
    int length = snprintf(head, sizeof(head),
                          "{\"type\":\"%s\",\"samplePeriod\":%" PRIu32 ",\"sampleCount\":%" PRIu32
                          ",\"stackDepth\":%" PRIu32 ",\"timeOriginMicros\":%" PRId64
                          ",\"timeExtentMicros\":%" PRId64 ",\"timeSpan\":%" PRId64 ".%06d",
                          type, snapshot_period_us(snapshot), snapshot_sample_count(snapshot),
                          snapshot_depth_max(snapshot), first_us, span_us, span_us / 1000000,
                          (int)(span_us % 1000000));

    json_text_raw(text, envelope, strlen(envelope));
    json_text_raw(text, head, (size_t)length);
}

static void put_code(struct json_text *text, const struct snapshot_function *function)
{
    code_json(text, function, function->inclusive, function->exclusive);
}

static void put_function(struct json_text *text, const struct paths *paths, uint32_t index)
{
    const struct snapshot_function *function = &paths->functions[index];

    json_text_literal(text, "{\"kind\":");
    json_text_string(text, function_kind(function));
    code_ticks_json(text, function->inclusive, function->exclusive);
    json_text_literal(text, ",\"codes\":[");
    json_text_uint(text, index);
    json_text_literal(text, "],\"function\":{");
    ref_function(text, "@Function", function, &paths->libraries[function->library]);
    json_text_literal(text, "}}");
}

static void put_tag_function(struct json_text *text, const char *name, uint32_t index)
{
    json_text_literal(text,
                      "{\"kind\":\"Tag\",\"inclusiveTicks\":0,\"exclusiveTicks\":0,\"codes\":[");
    json_text_uint(text, index);
    json_text_literal(text, "],\"function\":{\"type\":\"NativeFunction\",\"name\":");
    json_text_string(text, name);
    json_text_literal(text, ",\"_kind\":\"Tag\"}}");
}

/* Functions and then tags, in both lists. */
static bool put_code_entry(struct old_profile *profile, struct json_text *text)
{
    const struct paths *paths = &profile->paths;
    uint32_t index = profile->next++, functions = paths->function_count;

    if (index < functions)
        put_code(text, &paths->functions[index]);
    else
        code_tag_json(text, paths->tags.names[index - functions], index, 0);
    return profile->next < functions + paths->tags.count;
}

static bool put_function_entry(struct old_profile *profile, struct json_text *text)
{
    const struct paths *paths = &profile->paths;
    uint32_t index = profile->next++, functions = paths->function_count;

    if (index < functions)
        put_function(text, paths, index);
    else
        put_tag_function(text, paths->tags.names[index - functions], index);
    return profile->next < functions + paths->tags.count;
}

static void put_numbers(struct json_text *text, const uint64_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i)
            json_text_literal(text, ",");
        json_text_uint(text, numbers[i]);
    }
}

/* The zeros are native allocations; a function is all in one code, of its own number. */
static void put_code_node(struct json_text *text, const struct path_node *node)
{
    const uint64_t numbers[] = { node->entry, node->ticks, node->children, 0, 0 };

    put_numbers(text, numbers, sizeof(numbers) / sizeof(*numbers));
}

static void put_function_node(struct json_text *text, const struct path_node *node)
{
    const uint64_t numbers[] = { node->entry, node->ticks, 0,           0,
                                 1,           node->entry, node->ticks, node->children };

    put_numbers(text, numbers, sizeof(numbers) / sizeof(*numbers));
}

/* One list after the other: entries by put, which says whether there are more, or a walk's nodes.
 * None is empty, for the root is in each. */
struct list {
    const char *before; /* closes the list before */
    bool (*put)(struct old_profile *profile, struct json_text *text);
    enum path_direction direction;
    void (*put_node)(struct json_text *text, const struct path_node *node);
};

static const struct list lists[] = {
    { ",\"codes\":[", put_code_entry, PATH_UP, NULL },
    { "],\"functions\":[", put_function_entry, PATH_UP, NULL },
    { "],\"exclusiveCodeTrie\":[", NULL, PATH_UP, put_code_node },
    { "],\"inclusiveCodeTrie\":[", NULL, PATH_DOWN, put_code_node },
    { "],\"exclusiveFunctionTrie\":[", NULL, PATH_UP, put_function_node },
    { "],\"inclusiveFunctionTrie\":[", NULL, PATH_DOWN, put_function_node },
};
enum { LIST_COUNT = sizeof(lists) / sizeof(*lists) };

static void open_list(struct old_profile *profile)
{
    const struct list *list = &lists[profile->list];

    json_text_raw(&profile->stream.carry, list->before, strlen(list->before));
    profile->opened = true;
    profile->any = false;
    profile->next = 0;
    if (list->put)
        return;
    path_walk_free(&profile->walk);
    profile->stream.failed = path_walk_begin(&profile->walk, &profile->paths, list->direction) < 0;
}

static void close_list(struct old_profile *profile)
{
    struct reply_stream *stream = &profile->stream;

    profile->opened = false;
    if (++profile->list < LIST_COUNT)
        return;
    json_text_literal(&stream->carry, "]}}");
    stream->done = true;
}

static void put_node(struct old_profile *profile, const struct list *list)
{
    struct reply_stream *stream = &profile->stream;
    struct path_node node;

    switch (path_walk_next(&profile->walk, &node, stream->work)) {
    case PATH_NODE:
        json_text_comma(&profile->stream.carry, &profile->any);
        return list->put_node(&stream->carry, &node);
    case PATH_WORKS:
        return;
    case PATH_END:
        stream->failed = profile->walk.failed;
        return close_list(profile);
    }
}

static void put_next(struct reply_stream *stream)
{
    struct old_profile *profile = (struct old_profile *)stream;
    const struct list *list = &lists[profile->list];

    if (profile->paths.known) {
        stream->failed = paths_gather(&profile->paths, stream->work) < 0;
    } else if (!profile->opened) {
        open_list(profile);
    } else if (list->put) {
        json_text_comma(&profile->stream.carry, &profile->any);
        if (!list->put(profile, &stream->carry))
            close_list(profile);
    } else {
        put_node(profile, list);
    }
}

static void free_profile(struct reply_stream *stream)
{
    struct old_profile *profile = (struct old_profile *)stream;

    path_walk_free(&profile->walk);
    paths_free(&profile->paths);
    snapshot_free(profile->snapshot);
    free(profile);
}

static const struct reply_stream_kind kind = { put_next, free_profile };

int old_profile_new(struct reply_stream **out, struct snapshot *snapshot, const char *envelope,
                    enum profile_tags tags)
{
    struct old_profile *profile = calloc(1, sizeof(*profile));

    if (!profile) {
        snapshot_free(snapshot);
        return -ISOSCOPE_NO_MEMORY;
    }
    profile->stream.kind = &kind;
    profile->snapshot = snapshot;
    if (paths_begin(&profile->paths, snapshot, tags) < 0) {
        reply_stream_free(&profile->stream);
        return -ISOSCOPE_NO_MEMORY;
    }
    old_profile_head(&profile->stream.carry, envelope, snapshot, TYPE_PRIVATE_CPU_PROFILE);
    *out = &profile->stream;
    return 0;
}
