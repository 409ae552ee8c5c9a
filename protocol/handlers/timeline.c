/*
 * timeline.c - the timeline: its streams are chosen and told, its events are the names of
 * processes and threads. The names of before 3.19, with a leading '_', mean the same.
 */
#include "handlers.h"
#include "../client/client.h"
#include "../client/saved.h"
#include "../client/windows.h"
#include "../events/event_json.h"
#include "../events/streams.h"
#include "../text/any_text.h"

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
                        reply->request->method, param, request_param(reply->request, param));
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
                     isolate->tid ? isolate->tid : pid, "args", "name", any_text(isolate->name));
}

static json_t *name_events(const struct isolates *isolates)
{
    json_t *events = json_array();

    for (size_t i = 0; i < isolates->count; i++)
        json_array_append_new(events, name_event(&isolates->items[i]));
    return events;
}

static int timeline(struct client *client, struct reply *reply, int64_t origin_us,
                    int64_t extent_us)
{
    struct timeline_window window = timeline_window(client->service, origin_us, extent_us);

    return answer(client, reply,
                  json_pack("{s:s, s:o, s:I, s:I}", "type", TYPE_TIMELINE, "traceEvents",
                            name_events(&client->service->isolates), "timeOriginMicros",
                            (json_int_t)window.origin_us, "timeExtentMicros",
                            (json_int_t)window.extent_us));
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

int handle_clear_vm_timeline(struct client *client, struct reply *reply)
{
    int rc = refuse_saved(client, "its timeline cannot be cleared");

    return rc ? rc : answer_success(client, reply);
}

int handle_private_clear_vm_timeline(struct client *client, struct reply *reply)
{
    return handle_clear_vm_timeline(client, reply);
}
