/*
 * handlers_timeline.c - the timeline: its streams are chosen and told, its events are the names of
 * processes and threads. The names of before 3.19, with a leading '_', mean the same.
 */
#include "client.h"
#include "handlers.h"

#include <string.h>

static int timeline_flags(struct client *client, struct reply *reply)
{
    return answer(client, reply,
                  json_pack("{s:s, s:s, s:o, s:o}", "type", TYPE_TIMELINE_FLAGS, "recorderName",
                            "isoscope", "availableStreams", timeline_streams_json(~0u),
                            "recordedStreams",
                            timeline_streams_json(client->service->timeline_streams)));
}

int handle_get_vm_timeline_flags(struct client *client, struct reply *reply)
{
    return timeline_flags(client, reply);
}

int handle_private_get_vm_timeline_flags(struct client *client, struct reply *reply)
{
    return timeline_flags(client, reply);
}

/* False: there is no such stream. */
static bool add_stream(uint32_t *streams, const char *name)
{
    if (name && !strcmp(name, "all")) {
        *streams = (1u << TIMELINE_STREAM_COUNT) - 1;
        return true;
    }
    for (int i = 0; name && i < TIMELINE_STREAM_COUNT; i++) {
        if (strcmp(name, timeline_stream_words[i]))
            continue;
        *streams |= 1u << i;
        return true;
    }
    return false;
}

/* param: which one names was, for the error. */
static int record_streams(struct client *client, struct reply *reply, json_t *names,
                          const char *param)
{
    uint32_t streams = 0;
    size_t i;
    json_t *name;

    json_array_foreach(names, i, name)
    {
        if (!add_stream(&streams, json_string_value(name)))
            return fail(client, RPC_INVALID_PARAMS, "%s: invalid '%s' parameter: %s",
                        client->request->method, param, request_param(client->request, param));
    }
    if (names && streams != client->service->timeline_streams) {
        client->service->timeline_streams = streams;
        streams_timeline_changed(client->service);
    }
    return answer_success(client, reply);
}

int handle_set_vm_timeline_flags(struct client *client,
                                 const struct set_vm_timeline_flags_params *params,
                                 struct reply *reply)
{
    return record_streams(client, reply, params->recorded_streams, "recordedStreams");
}

int handle_private_set_vm_timeline_flags(struct client *client,
                                         const struct private_set_vm_timeline_flags_params *params,
                                         struct reply *reply)
{
    if (params->stream_id && strcmp(params->stream_id, stream_id_words[STREAM_ID_TIMELINE]) != 0)
        return fail(client, RPC_INVALID_PARAMS,
                    "_setVMTimelineFlags: invalid 'streamId' parameter: %s", params->stream_id);
    if (params->recorded_streams)
        return record_streams(client, reply, params->recorded_streams, "recordedStreams");
    return record_streams(client, reply, params->fixed_names, "fixedNames");
}

static json_t *name_event(const struct isolate *isolate)
{
    int32_t pid = isolate->process->pid;

    return json_pack("{s:s, s:s, s:i, s:i, s:{s:o}}", "name",
                     isolate->tid ? "thread_name" : "process_name", "ph", "M", "pid", pid, "tid",
                     isolate->tid ? isolate->tid : pid, "args", "name",
                     isolate_text(isolate->name));
}

static json_t *name_events(const struct isolates *isolates)
{
    json_t *events = json_array();

    for (size_t i = 0; i < isolates->count; i++)
        json_array_append_new(events, name_event(&isolates->items[i]));
    return events;
}

/* Takes over what content gives; -1 is not given. */
static int answer_window(struct client *client, struct reply *reply, json_t *content,
                         int64_t origin_us, int64_t extent_us)
{
    int64_t now_us = client->service->options.monotonic_us();
    int64_t from_us = origin_us < 0 ? 0 : origin_us;
    int64_t span_us = extent_us >= 0 ? extent_us : now_us > from_us ? now_us - from_us : 0;
    json_auto_t *window = json_pack("{s:I, s:I}", "timeOriginMicros", (json_int_t)from_us,
                                    "timeExtentMicros", (json_int_t)span_us);

    json_object_update(content, window);
    return answer(client, reply, content);
}

static int timeline(struct client *client, struct reply *reply, int64_t origin_us,
                    int64_t extent_us)
{
    json_t *content = json_pack("{s:s, s:o}", "type", TYPE_TIMELINE, "traceEvents",
                                name_events(&client->service->isolates));

    return answer_window(client, reply, content, origin_us, extent_us);
}

int handle_get_vm_timeline(struct client *client, const struct get_vm_timeline_params *params,
                           struct reply *reply)
{
    return timeline(client, reply, params->time_origin_us, params->time_extent_us);
}

int handle_private_get_vm_timeline(struct client *client,
                                   const struct private_get_vm_timeline_params *params,
                                   struct reply *reply)
{
    return timeline(client, reply, params->time_origin_us, params->time_extent_us);
}

int handle_get_perfetto_vm_timeline(struct client *client,
                                    const struct get_perfetto_vm_timeline_params *params,
                                    struct reply *reply)
{
    json_t *content = json_pack("{s:s, s:s}", "type", TYPE_PERFETTO_TIMELINE, "trace", "");

    return answer_window(client, reply, content, params->time_origin_us, params->time_extent_us);
}

int handle_clear_vm_timeline(struct client *client, struct reply *reply)
{
    return answer_success(client, reply);
}

int handle_private_clear_vm_timeline(struct client *client, struct reply *reply)
{
    return answer_success(client, reply);
}
