#include "perfetto_writer.h"

#include "perfetto_events.h"
#include "perfetto_packets.h"
#include "../text/base64.h"
#include "../text/tags.h"
#include "../../sampler/include/isoscope/isoscope.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { CACHE_SLOTS = 1 << 13, PACKETS_BYTES = 4096, NAME_MAX_BYTES = 128, WORK_PACKET = 8 };

enum part { PART_LIBRARIES, PART_FUNCTIONS, PART_FRAMES, PART_SAMPLES, PART_EVENTS, PART_END };

struct cached_stack {
    uint64_t hash, iid; /* iid 0: free */
};

struct perfetto_writer {
    struct reply_stream stream; /* the first: this is one */
    struct profile *profile;
    struct snapshot *snapshot; /* NULL: no samples */
    const struct snapshot_library *libraries;
    const struct snapshot_function *functions;
    const struct snapshot_frame *frames;
    uint32_t counts[PART_SAMPLES]; /* of the tables, by part */
    enum part part;
    uint32_t cursor;
    struct json_text packets; /* whose base64 is still to come */
    struct cached_stack stacks[CACHE_SLOTS];
    uint64_t stack_count;
    struct tags threads; /* those that have a track: "process/tid/name" */
    uint64_t process_id; /* of the sample before */
    int32_t pid, tid;
    const char *thread_name;
    struct timeline_order *order; /* NULL: no events */
    bool gathered;
    struct perfetto_events events;
};

static uint64_t hash_stack(const struct snapshot_sample *sample)
{
    uint64_t hash = sample->depth;

    for (uint32_t i = 0; i < sample->depth; i++) {
        hash = (hash ^ sample->frames[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return hash;
}

static uint64_t intern_stack(struct perfetto_writer *writer, const struct snapshot_sample *sample)
{
    uint64_t hash = hash_stack(sample);
    struct cached_stack *slot = &writer->stacks[hash % CACHE_SLOTS];

    if (slot->iid && slot->hash == hash)
        return slot->iid;
    *slot = (struct cached_stack){ hash, ++writer->stack_count };
    perfetto_callstack(&writer->packets, slot->iid, sample);
    return slot->iid;
}

static bool is_new(struct perfetto_writer *writer, const char *name)
{
    uint32_t before = writer->threads.count;

    tags_add(&writer->threads, name);
    return writer->threads.count > before;
}

static void put_process(struct perfetto_writer *writer, uint64_t process_id)
{
    struct process_info process = { 0 };
    char name[NAME_MAX_BYTES];

    profile_process(writer->profile, process_id, &process);
    writer->process_id = process_id;
    writer->pid = process.pid;
    snprintf(name, sizeof(name), "%" PRIu64, process_id);
    if (is_new(writer, name))
        perfetto_process(&writer->packets, process.pid, process.name);
}

/* A track for each thread; samples of a thread come in runs. */
static void put_thread(struct perfetto_writer *writer, uint64_t process_id, int32_t tid,
                       const char *thread_name)
{
    char name[NAME_MAX_BYTES];

    if (writer->process_id == process_id && writer->tid == tid &&
        writer->thread_name == thread_name)
        return;
    if (writer->process_id != process_id)
        put_process(writer, process_id);
    writer->tid = tid;
    writer->thread_name = thread_name;
    snprintf(name, sizeof(name), "%" PRIu64 "/%d/%s", process_id, tid,
             thread_name ? thread_name : "");
    if (tid && is_new(writer, name))
        perfetto_thread(&writer->packets, writer->pid, tid, thread_name ? thread_name : "");
}

static void put_sample(struct perfetto_writer *writer)
{
    struct snapshot_sample sample;

    if (writer->snapshot && !snapshot_ready(writer->snapshot, writer->cursor, writer->stream.work))
        return;
    if (!writer->snapshot || !snapshot_next(writer->snapshot, &writer->cursor, &sample)) {
        writer->part = PART_EVENTS;
        return;
    }
    put_thread(writer, sample.process_id, sample.tid, sample.thread_name);
    perfetto_sample(&writer->packets, writer->pid, intern_stack(writer, &sample), &sample);
}

static void put_event(struct perfetto_writer *writer)
{
    struct timeline_event event;
    enum timeline_side side;
    int rc = writer->order && !writer->gathered
                 ? timeline_order_gather(writer->order, writer->stream.work)
                 : 0;

    writer->stream.failed |= rc < 0;
    writer->gathered = !rc;
    if (rc > 0)
        return;
    if (rc < 0 || !writer->order || !timeline_order_next(writer->order, &event, &side)) {
        writer->part = PART_END;
        return;
    }
    put_thread(writer, event.process_id, event.tid, event.thread_name);
    perfetto_events_put(&writer->events, &writer->packets, &event, side, writer->pid);
}

static void put_entry(struct perfetto_writer *writer)
{
    uint32_t index = writer->cursor++;
    const struct snapshot_frame *frame;

    if (index >= writer->counts[writer->part]) {
        writer->part++;
        writer->cursor = 0;
    } else if (writer->part == PART_LIBRARIES) {
        perfetto_library(&writer->packets, index, &writer->libraries[index]);
    } else if (writer->part == PART_FUNCTIONS) {
        perfetto_function(&writer->packets, index, writer->functions[index].name);
    } else {
        frame = &writer->frames[index];
        perfetto_frame(&writer->packets, index, frame, &writer->functions[frame->function]);
    }
}

static void put_base64(struct perfetto_writer *writer)
{
    struct json_text *packets = &writer->packets;
    bool last = writer->part == PART_END;
    size_t taken = base64_put(&writer->stream.carry, packets->data, packets->length, last);

    memmove(packets->data, packets->data + taken, packets->length - taken);
    packets->length -= taken;
    writer->stream.done = last;
    if (last)
        json_text_literal(&writer->stream.carry, "\"}}");
}

static void put_next(struct reply_stream *stream)
{
    struct perfetto_writer *writer = (struct perfetto_writer *)stream;

    while (writer->packets.length < PACKETS_BYTES && writer->part != PART_END &&
           *stream->work > 0) {
        work_off(stream->work, WORK_PACKET);
        if (writer->part == PART_SAMPLES)
            put_sample(writer);
        else if (writer->part == PART_EVENTS)
            put_event(writer);
        else
            put_entry(writer);
    }
    stream->failed |=
        writer->packets.failed || writer->threads.failed || perfetto_events_failed(&writer->events);
    if (!stream->failed)
        put_base64(writer);
}

static void free_writer(struct reply_stream *stream)
{
    struct perfetto_writer *writer = (struct perfetto_writer *)stream;

    snapshot_free(writer->snapshot);
    json_text_free(&writer->packets);
    tags_free(&writer->threads);
    timeline_order_free(writer->order);
    perfetto_events_free(&writer->events);
    free(writer);
}

static const struct reply_stream_kind kind = { put_next, free_writer };

int perfetto_writer_new(struct reply_stream **out, struct snapshot *snapshot,
                        const struct perfetto_options *options)
{
    struct perfetto_writer *writer = calloc(1, sizeof(*writer));
    struct json_text first = options->first;

    if (!writer) {
        snapshot_free(snapshot);
        json_text_free(&first);
        timeline_order_free(options->order);
        return -ISOSCOPE_NO_MEMORY;
    }
    writer->stream.kind = &kind;
    writer->profile = options->profile;
    writer->snapshot = snapshot;
    writer->packets = first;
    writer->order = options->order;
    if (snapshot) {
        writer->libraries = snapshot_libraries(snapshot, &writer->counts[PART_LIBRARIES]);
        writer->functions = snapshot_functions(snapshot, &writer->counts[PART_FUNCTIONS]);
        writer->frames = snapshot_frames(snapshot, &writer->counts[PART_FRAMES]);
    }
    json_text_raw(&writer->stream.carry, options->before, strlen(options->before));
    *out = &writer->stream;
    return 0;
}
