/*
 * timeline.c - the timeline: its streams are chosen and told, its events and frames are read. The
 * names of before 3.19, with a leading '_', mean the same.
 */
#include "handlers.h"
#include "../client/client.h"
#include "../client/recorded_streams.h"
#include "../client/samples_reply.h"
#include "../client/saved.h"
#include "../client/windows.h"
#include "../events/streams.h"
#include "../timeline/frames_writer.h"
#include "../timeline/timeline_cursor_text.h"
#include "../timeline/timeline_table.h"
#include "../timeline/trace_events.h"
#include "../../sampler/feed/cleanup.h"
#include "../../sampler/profile/control.h"

#include <string.h>

static int timeline_flags(struct client *client, struct reply *reply)
{
    return answer(client, reply,
                  json_pack("{s:s, s:s, s:o, s:o}", "type", TYPE_TIMELINE_FLAGS, "recorderName",
                            "isoscope", "availableStreams",
                            recorded_streams_available(client->service), "recordedStreams",
                            recorded_streams_now(client->service)));
}

int handle_get_vm_timeline_flags(struct client *client, struct reply *reply)
{
    return timeline_flags(client, reply);
}

int handle_private_get_vm_timeline_flags(struct client *client, struct reply *reply)
{
    return timeline_flags(client, reply);
}

/* param: which one names was, for the error. */
static int record_streams(struct client *client, struct reply *reply, json_t *names,
                          const char *param)
{
    size_t i;
    json_t *name;

    json_array_foreach(names, i, name)
    {
        if (!recorded_streams_has(client->service, json_string_value(name)))
            return fail(client, RPC_INVALID_PARAMS, "%s: invalid '%s' parameter: %s",
                        reply->request->method, param, request_param(reply->request, param));
    }
    if (names && recorded_streams_choose(client->service, names) < 0)
        return answer(client, reply, NULL);
    if (names) /* as the VM, also where nothing changes */
        streams_timeline_changed(client->service);
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

/* Both ends hold when both are given, as in the VM. */
static struct timeline_span span_if_given(int64_t origin_us, int64_t extent_us)
{
    struct snapshot_window window = window_if_given(origin_us, extent_us);

    return (struct timeline_span){ window.bounded, window.origin_us,
                                   window.origin_us + window.extent_us };
}

/* Samples are taken only where some were written into the timeline. */
static int begin_timeline(struct client *client, struct reply *reply,
                          const struct timeline_span *span, struct samples_reply *out)
{
    struct snapshot_window window = { .bounded = span->bounded,
                                      .origin_us = span->from_us,
                                      .extent_us = span->to_us - span->from_us };

    return client->service->written_count ? samples_reply_begin(client, reply, NULL, &window, out)
                                          : samples_reply_begin_empty(client, reply, out);
}

static int timeline(struct client *client, struct reply *reply, int64_t origin_us,
                    int64_t extent_us)
{
    CLEANUP(samples_reply_end) struct samples_reply begun = { 0 };
    struct timeline_span span = span_if_given(origin_us, extent_us);
    struct told_window told = told_window(client->service, origin_us, extent_us);
    struct trace_events_options options = { .profile = client->service->options.profile,
                                            .isolates = &client->service->isolates,
                                            .origin_us = told.origin_us,
                                            .extent_us = told.extent_us };
    struct timeline_order *order = NULL;
    int rc = begin_timeline(client, reply, &span, &begun);

    if (rc)
        return rc;
    rc = timeline_order_take(&order, options.profile, &span, false);
    if (rc < 0) {
        snapshot_free(begun.snapshot);
        return samples_reply_result(client, rc);
    }
    options.envelope = begun.envelope;
    options.snapshot = begun.snapshot;
    options.written_count = client->service->written_count;
    memcpy(options.written, client->service->written, sizeof(options.written));
    return samples_reply_result(client, trace_events_new(&reply->samples, order, &options));
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

    if (rc)
        return rc;
    client->service->written_count = 0;
    profile_timeline_clear(client->service->options.profile, 0);
    streams_timeline_cleared(client->service);
    return answer_success(client, reply);
}

int handle_private_clear_vm_timeline(struct client *client, struct reply *reply)
{
    return handle_clear_vm_timeline(client, reply);
}

/* Of those that have been written longest, one is forgotten where there are too many. */
static void remember_written(struct service *service, const struct written_samples *written)
{
    if (service->written_count == WRITTEN_SAMPLES_MAX) {
        service->written_count--;
        memmove(service->written, service->written + 1,
                service->written_count * sizeof(*service->written));
    }
    service->written[service->written_count++] = *written;
}

/* A sample stays where it is; from now on the timeline tells it, too. */
int handle_private_write_cpu_profile_timeline(
    struct client *client, const struct private_write_cpu_profile_timeline_params *params,
    struct reply *reply)
{
    struct service *service = client->service;
    struct written_samples written = { params->isolate->process->id, params->isolate->tid,
                                       service_now_us(service) };
    int rc = refuse_saved(client, "its timeline cannot be written into");

    if (!rc)
        rc = samples_reply_enabled(client);
    if (rc)
        return rc;
    remember_written(service, &written);
    return answer_success(client, reply);
}

int handle_private_get_timeline(struct client *client,
                                const struct private_get_timeline_params *params,
                                struct reply *reply)
{
    CLEANUP(samples_reply_end) struct samples_reply begun = { 0 };
    struct profile *profile = client->service->options.profile;
    struct snapshot_window given = window_if_given(params->time_origin_us, params->time_extent_us);
    struct timeline_cursor cursor = { 0 };
    struct timeline_window window = { .process_id =
                                          params->isolate ? params->isolate->process->id : 0,
                                      .tid = params->isolate ? params->isolate->tid : 0,
                                      .bounded = given.bounded,
                                      .origin_us = given.origin_us,
                                      .extent_us = given.extent_us,
                                      .since = &cursor,
                                      .count_max = (uint64_t)params->count,
                                      .open = true };
    struct timeline *taken = NULL;
    int rc;

    if (params->cursor && !timeline_cursor_parse(params->cursor, &cursor))
        return fail(client, RPC_INVALID_PARAMS,
                    "cursor: expected what an earlier reply gave as \"next\"");
    rc = samples_reply_begin_empty(client, reply, &begun);
    if (!rc)
        rc = samples_reply_result(client, timeline_take(&taken, profile, &window));
    if (rc)
        return rc;
    return samples_reply_result(
        client, timeline_table_new(&reply->samples, taken, profile, begun.envelope));
}

enum { SECOND_US = 1000000, RATE_MAX = 1000000 };

/* From a second before: rates need the frames of that time. */
static struct timeline_window window_of(const struct private_get_frames_params *params,
                                        const struct snapshot_window *given)
{
    int64_t before_us = given->origin_us < SECOND_US ? given->origin_us : SECOND_US;

    return (struct timeline_window){ .process_id =
                                         params->isolate ? params->isolate->process->id : 0,
                                     .tid = params->isolate ? params->isolate->tid : 0,
                                     .bounded = given->bounded,
                                     .origin_us = given->origin_us - before_us,
                                     .extent_us = given->extent_us + before_us,
                                     .kinds = 1u << TIMELINE_FRAME };
}

int handle_private_get_frames(struct client *client, const struct private_get_frames_params *params,
                              struct reply *reply)
{
    CLEANUP(samples_reply_end) struct samples_reply begun = { 0 };
    struct snapshot_window given = window_if_given(params->time_origin_us, params->time_extent_us);
    struct timeline_window window = window_of(params, &given);
    struct timeline_span span = { given.bounded, given.origin_us,
                                  given.origin_us + given.extent_us };
    struct timeline *timeline = NULL;
    int rc;

    if (params->refresh_rate < 1 || params->refresh_rate > RATE_MAX)
        return fail(client, RPC_INVALID_PARAMS, "refreshRate: expected 1 to %d frames a second",
                    RATE_MAX);
    rc = samples_reply_begin_empty(client, reply, &begun);
    if (!rc)
        rc = samples_reply_result(
            client, timeline_take(&timeline, client->service->options.profile, &window));
    if (rc)
        return rc;
    return samples_reply_result(client,
                                frames_writer_new(&reply->samples, timeline, &span,
                                                  (uint32_t)params->refresh_rate, begun.envelope));
}
