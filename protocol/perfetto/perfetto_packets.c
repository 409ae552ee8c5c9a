#include "perfetto_packets.h"

#include "../text/protobuf.h"

/* Field numbers of Perfetto's own messages, as far as they are used here. */
enum { TRACE_PACKET = 1 };
enum {
    PACKET_CLOCK_SNAPSHOT = 6,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE_ID = 10,
    PACKET_TRACK_EVENT = 11,
    PACKET_INTERNED_DATA = 12,
    PACKET_SEQUENCE_FLAGS = 13,
    PACKET_CLOCK_ID = 58,
    PACKET_TRACK_DESCRIPTOR = 60,
    PACKET_PERF_SAMPLE = 66,
};
enum { SNAPSHOT_CLOCKS = 1, SNAPSHOT_PRIMARY_CLOCK = 2, CLOCK_ID = 1, CLOCK_TIMESTAMP = 2 };
enum {
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_THREAD = 4,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8,
};
enum {
    EVENT_ANNOTATIONS = 4,
    EVENT_TYPE = 9,
    EVENT_TRACK = 11,
    EVENT_CATEGORIES = 22,
    EVENT_NAME = 23,
    EVENT_COUNTER = 30,
    EVENT_COUNTER_DOUBLE = 44,
    EVENT_FLOWS = 47,
    EVENT_LAST_FLOWS = 48,
};
enum { TYPE_COUNTER = 4 };
enum {
    ANNOTATION_UINT = 3,
    ANNOTATION_INT = 4,
    ANNOTATION_DOUBLE = 5,
    ANNOTATION_STRING = 6,
    ANNOTATION_NAME = 10,
};
enum { PROCESS_PID = 1, PROCESS_NAME = 6, THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum {
    INTERNED_FUNCTION_NAMES = 5,
    INTERNED_FRAMES = 6,
    INTERNED_CALLSTACKS = 7,
    INTERNED_BUILD_IDS = 16,
    INTERNED_MAPPING_PATHS = 17,
    INTERNED_MAPPINGS = 19,
};
enum { STRING_IID = 1, STRING_TEXT = 2 };
enum { MAPPING_IID = 1, MAPPING_BUILD_ID = 2, MAPPING_LOAD_BIAS = 6, MAPPING_PATH_IDS = 7 };
enum { FRAME_IID = 1, FRAME_FUNCTION = 2, FRAME_MAPPING = 3, FRAME_REL_PC = 4, FRAME_LINE = 6 };
enum { CALLSTACK_IID = 1, CALLSTACK_FRAMES = 2 };
enum { SAMPLE_PID = 2, SAMPLE_TID = 3, SAMPLE_CALLSTACK = 4 };

enum { SEQUENCE_ID = 1, STATE_CLEARED = 1, NEEDS_STATE = 2, CLOCK_IS_MONOTONIC = 3 };

static size_t begin_packet(struct json_text *bytes, uint32_t flags)
{
    size_t packet = protobuf_begin(bytes, TRACE_PACKET);

    protobuf_uint(bytes, PACKET_SEQUENCE_ID, SEQUENCE_ID);
    protobuf_uint(bytes, PACKET_SEQUENCE_FLAGS, flags);
    return packet;
}

void perfetto_clock(struct json_text *bytes, int64_t now_us)
{
    size_t packet = begin_packet(bytes, STATE_CLEARED);
    size_t snapshot = protobuf_begin(bytes, PACKET_CLOCK_SNAPSHOT);
    size_t clock = protobuf_begin(bytes, SNAPSHOT_CLOCKS);

    protobuf_uint(bytes, CLOCK_ID, CLOCK_IS_MONOTONIC);
    protobuf_uint(bytes, CLOCK_TIMESTAMP, (uint64_t)now_us * 1000);
    protobuf_end(bytes, clock);
    protobuf_uint(bytes, SNAPSHOT_PRIMARY_CLOCK, CLOCK_IS_MONOTONIC);
    protobuf_end(bytes, snapshot);
    protobuf_end(bytes, packet);
}

uint64_t perfetto_process_uuid(int32_t pid)
{
    return (uint64_t)pid;
}

/* A pid has 32 bits: no process' track is called so. */
uint64_t perfetto_thread_uuid(int32_t pid, int32_t tid)
{
    return (uint64_t)pid << 32 | (uint32_t)tid;
}

void perfetto_process(struct json_text *bytes, int32_t pid, const char *name)
{
    size_t packet = begin_packet(bytes, NEEDS_STATE);
    size_t track = protobuf_begin(bytes, PACKET_TRACK_DESCRIPTOR), process;

    protobuf_uint(bytes, TRACK_UUID, perfetto_process_uuid(pid));
    protobuf_string(bytes, TRACK_NAME, name);
    process = protobuf_begin(bytes, TRACK_PROCESS);
    protobuf_uint(bytes, PROCESS_PID, (uint64_t)pid);
    protobuf_string(bytes, PROCESS_NAME, name);
    protobuf_end(bytes, process);
    protobuf_end(bytes, track);
    protobuf_end(bytes, packet);
}

void perfetto_thread(struct json_text *bytes, int32_t pid, int32_t tid, const char *name)
{
    size_t packet = begin_packet(bytes, NEEDS_STATE);
    size_t track = protobuf_begin(bytes, PACKET_TRACK_DESCRIPTOR), thread;

    protobuf_uint(bytes, TRACK_UUID, perfetto_thread_uuid(pid, tid));
    protobuf_uint(bytes, TRACK_PARENT, perfetto_process_uuid(pid));
    thread = protobuf_begin(bytes, TRACK_THREAD);
    protobuf_uint(bytes, THREAD_PID, (uint64_t)pid);
    protobuf_uint(bytes, THREAD_TID, (uint64_t)tid);
    protobuf_string(bytes, THREAD_NAME, name);
    protobuf_end(bytes, thread);
    protobuf_end(bytes, track);
    protobuf_end(bytes, packet);
}

static size_t begin_track(struct json_text *bytes, uint64_t uuid, uint64_t parent)
{
    size_t track = protobuf_begin(bytes, PACKET_TRACK_DESCRIPTOR);

    protobuf_uint(bytes, TRACK_UUID, uuid);
    protobuf_uint(bytes, TRACK_PARENT, parent);
    return track;
}

void perfetto_track(struct json_text *bytes, uint64_t uuid, uint64_t parent, const char *name)
{
    size_t packet = begin_packet(bytes, NEEDS_STATE), track = begin_track(bytes, uuid, parent);

    protobuf_string(bytes, TRACK_NAME, name);
    protobuf_end(bytes, track);
    protobuf_end(bytes, packet);
}

void perfetto_counter_track(struct json_text *bytes, uint64_t uuid, uint64_t parent,
                            const char *name, const char *series)
{
    size_t packet = begin_packet(bytes, NEEDS_STATE), track = begin_track(bytes, uuid, parent);
    struct json_text text = { 0 };

    json_text_raw(&text, name, strlen(name));
    if (series) {
        json_text_literal(&text, ": ");
        json_text_raw(&text, series, strlen(series));
    }
    json_text_raw(&text, "", 1);
    protobuf_string(bytes, TRACK_NAME, text.failed ? "" : text.data);
    bytes->failed |= text.failed;
    json_text_free(&text);
    protobuf_end(bytes, protobuf_begin(bytes, TRACK_COUNTER));
    protobuf_end(bytes, track);
    protobuf_end(bytes, packet);
}

static void put_annotation(struct json_text *bytes, const struct timeline_argument *argument)
{
    size_t annotation = protobuf_begin(bytes, EVENT_ANNOTATIONS);

    protobuf_string(bytes, ANNOTATION_NAME, argument->name);
    switch (argument->type) {
    case FEED_ARGUMENT_INT:
        protobuf_uint(bytes, ANNOTATION_INT, (uint64_t)argument->integer);
        break;
    case FEED_ARGUMENT_UINT:
        protobuf_uint(bytes, ANNOTATION_UINT, argument->count);
        break;
    case FEED_ARGUMENT_DOUBLE:
        protobuf_double(bytes, ANNOTATION_DOUBLE, argument->number);
        break;
    case FEED_ARGUMENT_TEXT:
        protobuf_string(bytes, ANNOTATION_STRING, argument->text);
        break;
    case FEED_ARGUMENT_TYPES:
        break;
    }
    protobuf_end(bytes, annotation);
}

static size_t begin_event(struct json_text *bytes, uint32_t type, uint64_t track, int64_t at_ns)
{
    size_t event;

    protobuf_uint(bytes, PACKET_TIMESTAMP, (uint64_t)at_ns);
    protobuf_uint(bytes, PACKET_CLOCK_ID, CLOCK_IS_MONOTONIC);
    event = protobuf_begin(bytes, PACKET_TRACK_EVENT);
    protobuf_uint(bytes, EVENT_TYPE, type);
    protobuf_uint(bytes, EVENT_TRACK, track);
    return event;
}

static void put_what(struct json_text *bytes, const struct timeline_event *event)
{
    protobuf_string(bytes, EVENT_CATEGORIES, event->stream);
    protobuf_string(bytes, EVENT_NAME,
                    event->mark == TIMELINE_NO_BEGIN ? "(end without a begin)" : event->name);
    if (event->kind == TIMELINE_FLOW_BEGIN || event->kind == TIMELINE_FLOW_STEP)
        protobuf_fixed(bytes, EVENT_FLOWS, event->id);
    if (event->kind == TIMELINE_FLOW_END)
        protobuf_fixed(bytes, EVENT_LAST_FLOWS, event->id);
    for (uint32_t i = 0; i < event->argument_count; i++)
        put_annotation(bytes, &event->arguments[i]);
}

void perfetto_event(struct json_text *bytes, enum perfetto_side side, uint64_t track, int64_t at_ns,
                    const struct timeline_event *event)
{
    size_t packet = begin_packet(bytes, NEEDS_STATE);
    size_t begun = begin_event(bytes, side, track, at_ns);

    if (side != PERFETTO_END)
        put_what(bytes, event);
    protobuf_end(bytes, begun);
    protobuf_end(bytes, packet);
}

void perfetto_counter(struct json_text *bytes, uint64_t track, int64_t at_ns,
                      const struct timeline_argument *value)
{
    size_t packet = begin_packet(bytes, NEEDS_STATE);
    size_t begun = begin_event(bytes, TYPE_COUNTER, track, at_ns);

    if (value->type == FEED_ARGUMENT_DOUBLE)
        protobuf_double(bytes, EVENT_COUNTER_DOUBLE, value->number);
    else
        protobuf_uint(bytes, EVENT_COUNTER, value->count);
    protobuf_end(bytes, begun);
    protobuf_end(bytes, packet);
}

static void put_string(struct json_text *bytes, uint32_t table, uint64_t iid, const char *string)
{
    size_t entry = protobuf_begin(bytes, table);

    protobuf_uint(bytes, STRING_IID, iid);
    protobuf_string(bytes, STRING_TEXT, string);
    protobuf_end(bytes, entry);
}

void perfetto_library(struct json_text *bytes, uint32_t index,
                      const struct snapshot_library *library)
{
    size_t packet = begin_packet(bytes, NEEDS_STATE);
    size_t tables = protobuf_begin(bytes, PACKET_INTERNED_DATA), mapping;
    uint64_t iid = (uint64_t)index + 1;

    put_string(bytes, INTERNED_BUILD_IDS, iid, library->build_id);
    put_string(bytes, INTERNED_MAPPING_PATHS, iid, library->path);
    mapping = protobuf_begin(bytes, INTERNED_MAPPINGS);
    protobuf_uint(bytes, MAPPING_IID, iid);
    protobuf_uint(bytes, MAPPING_BUILD_ID, iid);
    protobuf_uint(bytes, MAPPING_LOAD_BIAS, library->load_bias);
    protobuf_uint(bytes, MAPPING_PATH_IDS, iid);
    protobuf_end(bytes, mapping);
    protobuf_end(bytes, tables);
    protobuf_end(bytes, packet);
}

void perfetto_function(struct json_text *bytes, uint32_t index, const char *name)
{
    size_t packet = begin_packet(bytes, NEEDS_STATE);
    size_t tables = protobuf_begin(bytes, PACKET_INTERNED_DATA);

    put_string(bytes, INTERNED_FUNCTION_NAMES, (uint64_t)index + 1, name);
    protobuf_end(bytes, tables);
    protobuf_end(bytes, packet);
}

void perfetto_frame(struct json_text *bytes, uint32_t index, const struct snapshot_frame *frame,
                    const struct snapshot_function *function)
{
    size_t packet = begin_packet(bytes, NEEDS_STATE);
    size_t tables = protobuf_begin(bytes, PACKET_INTERNED_DATA);
    size_t entry = protobuf_begin(bytes, INTERNED_FRAMES);

    protobuf_uint(bytes, FRAME_IID, (uint64_t)index + 1);
    protobuf_uint(bytes, FRAME_FUNCTION, (uint64_t)frame->function + 1);
    protobuf_uint(bytes, FRAME_MAPPING, (uint64_t)function->library + 1);
    if (function->offset != SNAPSHOT_NO_OFFSET)
        protobuf_uint(bytes, FRAME_REL_PC, function->offset);
    if (frame->line)
        protobuf_uint(bytes, FRAME_LINE, frame->line);
    protobuf_end(bytes, entry);
    protobuf_end(bytes, tables);
    protobuf_end(bytes, packet);
}

/* Outermost first. */
void perfetto_callstack(struct json_text *bytes, uint64_t iid, const struct snapshot_sample *sample)
{
    size_t packet = begin_packet(bytes, NEEDS_STATE);
    size_t tables = protobuf_begin(bytes, PACKET_INTERNED_DATA);
    size_t entry = protobuf_begin(bytes, INTERNED_CALLSTACKS);

    protobuf_uint(bytes, CALLSTACK_IID, iid);
    for (uint32_t i = sample->depth; i-- > 0;)
        protobuf_uint(bytes, CALLSTACK_FRAMES, (uint64_t)sample->frames[i] + 1);
    protobuf_end(bytes, entry);
    protobuf_end(bytes, tables);
    protobuf_end(bytes, packet);
}

void perfetto_sample(struct json_text *bytes, int32_t pid, uint64_t callstack_iid,
                     const struct snapshot_sample *sample)
{
    size_t packet = begin_packet(bytes, NEEDS_STATE), perf;

    protobuf_uint(bytes, PACKET_TIMESTAMP, (uint64_t)sample->timestamp_us * 1000);
    protobuf_uint(bytes, PACKET_CLOCK_ID, CLOCK_IS_MONOTONIC);
    perf = protobuf_begin(bytes, PACKET_PERF_SAMPLE);
    protobuf_uint(bytes, SAMPLE_PID, (uint64_t)pid);
    protobuf_uint(bytes, SAMPLE_TID, (uint64_t)sample->tid);
    protobuf_uint(bytes, SAMPLE_CALLSTACK, callstack_iid);
    protobuf_end(bytes, perf);
    protobuf_end(bytes, packet);
}
