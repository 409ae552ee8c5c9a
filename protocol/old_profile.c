#include "old_profile.h"

#include "call_trie.h"
#include "sample_words.h"
#include "refs.h"
#include "tags.h"
#include "uris.h"
#include "../sampler/feed/cleanup.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct view {
    const struct snapshot_function *functions;
    const struct snapshot_frame *frames;
    const struct snapshot_library *libraries;
    uint32_t function_count;
};

static struct view view_of(const struct snapshot *snapshot)
{
    struct view view;
    uint32_t count;

    view.functions = snapshot_functions(snapshot, &view.function_count);
    view.frames = snapshot_frames(snapshot, &count);
    view.libraries = snapshot_libraries(snapshot, &count);
    return view;
}

/* What both replies begin with; the window's, not the request's. */
static void put_head(struct json_text *text, const struct snapshot *snapshot, const char *type)
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

    json_text_raw(text, head, (size_t)length);
}

/* "Root" is the first tag: the entry of every trie's root. */
struct tries {
    struct view view;
    struct call_trie inclusive, exclusive; /* from the root down; from the leaf up */
    struct tags tags;
};

static void tries_free(struct tries *tries)
{
    call_trie_free(&tries->inclusive);
    call_trie_free(&tries->exclusive);
    tags_free(&tries->tags);
}

/* Tags stand behind the functions. */
static uint32_t tag_entry(struct tries *tries, const char *name)
{
    tags_add(&tries->tags, name);
    return tries->view.function_count + tries->tags.last;
}

/* Returns how many tags stand above the stack; tags holds their entries. */
static uint32_t tags_above(struct tries *tries, const struct snapshot_sample *sample,
                           enum profile_tags wanted, uint32_t tags[2])
{
    uint32_t user = tag_entry(tries, snapshot_user_tag(sample->tag, sample->thread_name));
    uint32_t vm = tag_entry(tries, sample_vm_tag(sample->state));

    switch (wanted) {
    case PROFILE_TAGS_USER_VM:
        tags[0] = user;
        tags[1] = vm;
        return 2;
    case PROFILE_TAGS_VM_USER:
        tags[0] = vm;
        tags[1] = user;
        return 2;
    case PROFILE_TAGS_USER_ONLY:
        tags[0] = user;
        return 1;
    case PROFILE_TAGS_VM_ONLY:
        tags[0] = vm;
        return 1;
    default:
        return 0;
    }
}

static void add_sample(struct tries *tries, const struct snapshot_sample *sample,
                       enum profile_tags wanted)
{
    const struct snapshot_frame *frames = tries->view.frames;
    uint32_t tags[2], count = tags_above(tries, sample, wanted, tags), down = 0, up = 0;

    if (tries->tags.failed || tries->inclusive.failed || tries->exclusive.failed)
        return;
    tries->inclusive.nodes[0].ticks++;
    tries->exclusive.nodes[0].ticks++;
    for (uint32_t i = 0; i < count; i++) {
        down = call_trie_step(&tries->inclusive, down, tags[i]);
        up = call_trie_step(&tries->exclusive, up, tags[i]);
    }
    for (uint32_t i = 0; i < sample->depth; i++) {
        down = call_trie_step(&tries->inclusive, down,
                              frames[sample->frames[sample->depth - 1 - i]].function);
        up = call_trie_step(&tries->exclusive, up, frames[sample->frames[i]].function);
    }
}

static void build_tries(struct tries *tries, struct snapshot *snapshot, enum profile_tags wanted)
{
    struct snapshot_sample sample;
    uint32_t cursor = 0, root;

    tries->view = view_of(snapshot);
    root = tag_entry(tries, "Root");
    call_trie_begin(&tries->inclusive, root);
    call_trie_begin(&tries->exclusive, root);
    while (snapshot_next(snapshot, &cursor, &sample))
        add_sample(tries, &sample, wanted);
}

static void put_ticks(struct json_text *text, uint64_t inclusive, uint64_t exclusive)
{
    json_text_literal(text, ",\"inclusiveTicks\":");
    json_text_uint(text, inclusive);
    json_text_literal(text, ",\"exclusiveTicks\":");
    json_text_uint(text, exclusive);
}

static const char *kind_of(const struct snapshot_function *function)
{
    return function->kind == SNAPSHOT_STUB ? "Stub" : "Native";
}

static void put_code(struct json_text *text, const struct view *view, uint32_t index)
{
    const struct snapshot_function *function = &view->functions[index];

    json_text_literal(text, "{\"kind\":");
    json_text_string(text, kind_of(function));
    put_ticks(text, function->inclusive, function->exclusive);
    json_text_literal(text,
                      ",\"ticks\":[],\"code\":{\"type\":\"@Code\",\"fixedId\":true,\"id\":\"code");
    json_text_raw(text, strchr(function->id, '/'), strlen(strchr(function->id, '/')));
    json_text_literal(text, "\",\"name\":");
    json_text_string(text, function->full_name);
    json_text_literal(text, ",\"kind\":");
    json_text_string(text, kind_of(function));
    json_text_literal(text, "}}");
}

static void put_tag_code(struct json_text *text, const char *name, uint32_t number)
{
    json_text_literal(text,
                      "{\"kind\":\"Tag\",\"inclusiveTicks\":0,\"exclusiveTicks\":0,\"ticks\":[],"
                      "\"code\":{\"type\":\"@Code\",\"fixedId\":true,\"id\":\"code/tag-");
    json_text_uint(text, number);
    json_text_literal(text, "\",\"name\":");
    json_text_string(text, name);
    json_text_literal(text, ",\"kind\":\"Tag\"}}");
}

static void put_function(struct json_text *text, const struct view *view, uint32_t index)
{
    const struct snapshot_function *function = &view->functions[index];

    json_text_literal(text, "{\"kind\":");
    json_text_string(text, kind_of(function));
    put_ticks(text, function->inclusive, function->exclusive);
    json_text_literal(text, ",\"codes\":[");
    json_text_uint(text, index);
    json_text_literal(text, "],\"function\":{");
    ref_function(text, "@Function", function, &view->libraries[function->library]);
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

/* Functions and then tags, by both lists. */
static void put_entries(struct json_text *text, const struct tries *tries, const char *list,
                        void (*put)(struct json_text *, const struct view *, uint32_t),
                        void (*put_tag)(struct json_text *, const char *, uint32_t))
{
    uint32_t count = tries->view.function_count;

    json_text_raw(text, list, strlen(list));
    for (uint32_t i = 0; i < count + tries->tags.count; i++) {
        if (i)
            json_text_literal(text, ",");
        if (i < count)
            put(text, &tries->view, i);
        else
            put_tag(text, tries->tags.names[i - count], i);
    }
    json_text_literal(text, "]");
}

/* 0-terminated; NULL when out of memory. */
static char *finished(struct json_text *text)
{
    json_text_raw(text, "", 1);
    if (!text->failed)
        return text->data;
    json_text_free(text);
    return NULL;
}

char *old_profile_text(struct snapshot *snapshot, enum profile_tags tags)
{
    CLEANUP(tries_free) struct tries tries = { 0 };
    struct json_text text = { 0 };

    build_tries(&tries, snapshot, tags);
    if (tries.tags.failed || tries.inclusive.failed || tries.exclusive.failed)
        return NULL;
    put_head(&text, snapshot, TYPE_PRIVATE_CPU_PROFILE);
    put_entries(&text, &tries, ",\"codes\":[", put_code, put_tag_code);
    put_entries(&text, &tries, ",\"functions\":[", put_function, put_tag_function);
    json_text_literal(&text, ",\"exclusiveCodeTrie\":");
    call_trie_write_codes(&text, &tries.exclusive);
    json_text_literal(&text, ",\"inclusiveCodeTrie\":");
    call_trie_write_codes(&text, &tries.inclusive);
    json_text_literal(&text, ",\"exclusiveFunctionTrie\":");
    call_trie_write_functions(&text, &tries.exclusive);
    json_text_literal(&text, ",\"inclusiveFunctionTrie\":");
    call_trie_write_functions(&text, &tries.inclusive);
    json_text_literal(&text, "}");
    return finished(&text);
}

/* "isolates/100-7": a node of the trie. */
static void put_frame_id(struct json_text *text, const struct isolate *isolate, uint32_t node)
{
    json_text_literal(text, "\"isolates/");
    json_text_uint(text, isolate->number);
    json_text_literal(text, "-");
    json_text_uint(text, node);
    json_text_literal(text, "\"");
}

static void put_event(struct json_text *text, const struct isolate *isolate,
                      const struct snapshot_sample *sample, uint32_t node)
{
    json_text_literal(text, "{\"ph\":\"P\",\"name\":\"\",\"cat\":\"Dart\",\"pid\":");
    json_text_int(text, isolate->process->pid);
    json_text_literal(text, ",\"tid\":");
    json_text_int(text, sample->tid);
    json_text_literal(text, ",\"ts\":");
    json_text_int(text, sample->timestamp_us);
    json_text_literal(text, ",\"sf\":");
    put_frame_id(text, isolate, node);
    json_text_literal(text, ",\"args\":{\"userTag\":");
    json_text_string(text, snapshot_user_tag(sample->tag, sample->thread_name));
    json_text_literal(text, ",\"vmTag\":");
    json_text_string(text, sample_vm_tag(sample->state));
    json_text_literal(text, "}}");
}

static void put_events(struct json_text *text, struct snapshot *snapshot,
                       const struct isolate *isolate, struct call_trie *trie)
{
    struct view view = view_of(snapshot);
    struct snapshot_sample sample;
    uint32_t cursor = 0;
    bool comma = false;

    json_text_literal(text, ",\"traceEvents\":[");
    while (snapshot_next(snapshot, &cursor, &sample) && !trie->failed) {
        uint32_t node = 0;

        for (uint32_t i = sample.depth; i-- > 0;)
            node = call_trie_step(trie, node, view.frames[sample.frames[i]].function);
        if (comma)
            json_text_literal(text, ",");
        comma = true;
        put_event(text, isolate, &sample, node);
    }
    json_text_literal(text, "]");
}

static void put_stack_frame(struct json_text *text, const struct view *view,
                            const struct isolate *isolate, const struct call_trie_node *node)
{
    const struct snapshot_function *function = &view->functions[node->entry];

    json_text_literal(text, ":{\"category\":\"Dart\",\"name\":");
    ref_name(text, function->name);
    json_text_literal(text, ",\"resolvedUrl\":\"");
    uri_resolved(text, &view->libraries[function->library], function->file);
    json_text_literal(text, "\"");
    if (node->parent) {
        json_text_literal(text, ",\"parent\":");
        put_frame_id(text, isolate, node->parent);
    }
    json_text_literal(text, "}");
}

static void put_stack_frames(struct json_text *text, const struct view *view,
                             const struct isolate *isolate, const struct call_trie *trie)
{
    json_text_literal(text, ",\"stackFrames\":{");
    for (uint32_t node = 1; node < trie->count; node++) {
        if (node > 1)
            json_text_literal(text, ",");
        put_frame_id(text, isolate, node);
        put_stack_frame(text, view, isolate, &trie->nodes[node]);
    }
    json_text_literal(text, "}}");
}

char *old_timeline_text(struct snapshot *snapshot, const struct isolate *isolate)
{
    CLEANUP(call_trie_free) struct call_trie trie = { 0 };
    struct view view = view_of(snapshot);
    struct json_text text = { 0 };

    call_trie_begin(&trie, 0);
    put_head(&text, snapshot, TYPE_PRIVATE_CPU_PROFILE_TIMELINE);
    put_events(&text, snapshot, isolate, &trie);
    if (trie.failed) {
        json_text_free(&text);
        return NULL;
    }
    put_stack_frames(&text, &view, isolate, &trie);
    return finished(&text);
}
