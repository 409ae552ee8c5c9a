#include "old_profile.h"
#include "path_walk.h"
#include "paths.h"
#include "../objects/refs.h"
#include "../objects/uris.h"
#include "../samples/sample_words.h"
#include "../../sampler/include/isoscope/isoscope.h"

#include <stdlib.h>
#include <string.h>

/* Isolates may go while the reply is read. */
struct timeline_process {
    uint64_t isolate;
    int32_t pid;
};

struct old_timeline {
    struct reply_stream stream; /* the first: this is one */
    struct snapshot *snapshot;
    struct timeline_process process;
    struct paths paths;
    struct path_walk walk;
    uint32_t cursor; /* of snapshot_next */
    bool in_frames;  /* the events are told */
    bool any;        /* the list has an entry already */
};

/* "isolates/100-7": a place in the tree. */
static void put_frame_id(struct json_text *text, const struct timeline_process *process,
                         uint64_t id)
{
    json_text_literal(text, "\"isolates/");
    json_text_uint(text, process->isolate);
    json_text_literal(text, "-");
    json_text_uint(text, id);
    json_text_literal(text, "\"");
}

static void put_event(struct json_text *text, const struct timeline_process *process,
                      const struct snapshot_sample *sample, uint64_t id)
{
    json_text_literal(text, "{\"ph\":\"P\",\"name\":\"\",\"cat\":\"Dart\",\"pid\":");
    json_text_int(text, process->pid);
    json_text_literal(text, ",\"tid\":");
    json_text_int(text, sample->tid);
    json_text_literal(text, ",\"ts\":");
    json_text_int(text, sample->timestamp_us);
    json_text_literal(text, ",\"sf\":");
    put_frame_id(text, process, id);
    json_text_literal(text, ",\"args\":{\"userTag\":");
    json_text_string(text, snapshot_user_tag(sample->tag, sample->thread_name));
    json_text_literal(text, ",\"vmTag\":");
    json_text_string(text, sample_vm_tag(sample->state));
    json_text_literal(text, "}}");
}

static void begin_frames(struct old_timeline *timeline)
{
    struct reply_stream *stream = &timeline->stream;

    json_text_literal(&stream->carry, "],\"stackFrames\":{");
    timeline->in_frames = true;
    timeline->any = false;
    stream->failed = path_walk_begin(&timeline->walk, &timeline->paths, PATH_DOWN) < 0;
}

static void put_next_event(struct old_timeline *timeline)
{
    struct snapshot_sample sample;

    if (!snapshot_ready(timeline->snapshot, timeline->cursor, timeline->stream.work))
        return;
    if (!snapshot_next(timeline->snapshot, &timeline->cursor, &sample))
        return begin_frames(timeline);
    json_text_comma(&timeline->stream.carry, &timeline->any);
    put_event(&timeline->stream.carry, &timeline->process, &sample,
              path_id_of(&timeline->paths, &sample));
}

/* The root has no function: it is no frame, and no frame's parent. */
static void put_frame(struct old_timeline *timeline, const struct path_node *node)
{
    struct json_text *text = &timeline->stream.carry;
    const struct paths *paths = &timeline->paths;
    const struct snapshot_function *function = &paths->functions[node->entry];

    if (!node->parent_id)
        return;
    json_text_comma(&timeline->stream.carry, &timeline->any);
    put_frame_id(text, &timeline->process, node->id);
    json_text_literal(text, ":{\"category\":\"Dart\",\"name\":");
    ref_name(text, function->name);
    json_text_literal(text, ",\"resolvedUrl\":\"");
    uri_resolved(text, &paths->libraries[function->library], function->file);
    json_text_literal(text, "\"");
    if (node->parent_id != path_id(0, paths->function_count)) {
        json_text_literal(text, ",\"parent\":");
        put_frame_id(text, &timeline->process, node->parent_id);
    }
    json_text_literal(text, "}");
}

static void put_next(struct reply_stream *stream)
{
    struct old_timeline *timeline = (struct old_timeline *)stream;
    struct path_node node;

    if (timeline->paths.known) {
        stream->failed = paths_gather(&timeline->paths, stream->work) < 0;
        return;
    }
    if (!timeline->in_frames)
        return put_next_event(timeline);
    switch (path_walk_next(&timeline->walk, &node, stream->work)) {
    case PATH_NODE:
        return put_frame(timeline, &node);
    case PATH_WORKS:
        return;
    case PATH_END:
        stream->failed = timeline->walk.failed;
        json_text_literal(&stream->carry, "}}}");
        stream->done = true;
    }
}

static void free_timeline(struct reply_stream *stream)
{
    struct old_timeline *timeline = (struct old_timeline *)stream;

    path_walk_free(&timeline->walk);
    paths_free(&timeline->paths);
    snapshot_free(timeline->snapshot);
    free(timeline);
}

static const struct reply_stream_kind kind = { put_next, free_timeline };

int old_timeline_new(struct reply_stream **out, struct snapshot *snapshot, const char *envelope,
                     const struct isolate *isolate)
{
    struct old_timeline *timeline = calloc(1, sizeof(*timeline));

    if (!timeline) {
        snapshot_free(snapshot);
        return -ISOSCOPE_NO_MEMORY;
    }
    timeline->stream.kind = &kind;
    timeline->snapshot = snapshot;
    timeline->process = (struct timeline_process){ isolate->number, isolate->process->pid };
    if (paths_begin(&timeline->paths, snapshot, PROFILE_TAGS_NONE) < 0) {
        reply_stream_free(&timeline->stream);
        return -ISOSCOPE_NO_MEMORY;
    }
    old_profile_head(&timeline->stream.carry, envelope, snapshot,
                     TYPE_PRIVATE_CPU_PROFILE_TIMELINE);
    json_text_literal(&timeline->stream.carry, ",\"traceEvents\":[");
    *out = &timeline->stream;
    return 0;
}
