/*
 * perfetto.c - samples and events as Perfetto traces.
 */
#include "handlers.h"
#include "../client/client.h"
#include "../client/samples_reply.h"
#include "../client/saved.h"
#include "../client/windows.h"
#include "../perfetto/perfetto_packets.h"
#include "../perfetto/perfetto_writer.h"
#include "../../sampler/feed/cleanup.h"
#include "../../sampler/include/isoscope/isoscope.h"

/* Takes over the snapshot, the order (NULL is fine) and head; its end is added here. With an order
 * come the tracks of all isolates. */
static int reply_trace(struct client *client, struct reply *reply, struct snapshot *snapshot,
                       struct timeline_order *order, struct json_text *head)
{
    const struct service *service = client->service;
    struct perfetto_options options = { .profile = service->options.profile, .order = order };
    int rc = -ISOSCOPE_NO_MEMORY;

    json_text_raw(head, "", 1);
    perfetto_clock(&options.first, service_now_us(service));
    for (size_t i = 0; order && i < service->isolates.count; i++) {
        const struct isolate *isolate = &service->isolates.items[i];

        if (isolate->tid)
            perfetto_thread(&options.first, isolate->process->pid, isolate->tid, isolate->name);
        else
            perfetto_process(&options.first, isolate->process->pid, isolate->process->name);
    }
    options.before = head->data;
    if (head->failed) {
        json_text_free(&options.first);
        timeline_order_free(order);
        snapshot_free(snapshot);
    } else {
        rc = perfetto_writer_new(&reply->samples, snapshot, &options);
    }
    json_text_free(head);
    return samples_reply_result(client, rc);
}

static struct json_text begin_head(const struct samples_reply *begun)
{
    struct json_text head = { 0 };

    json_text_raw(&head, begun->envelope, strlen(begun->envelope));
    return head;
}

static int reply_samples(struct client *client, struct reply *reply,
                         const struct samples_reply *begun)
{
    struct snapshot *snapshot = begun->snapshot;
    struct json_text head = begin_head(begun);
    int64_t first_us = snapshot_first_us(snapshot);

    json_text_member(
        &head, "{\"type\":\"PerfettoCpuSamples\",\"samplePeriod\":", snapshot_period_us(snapshot));
    json_text_member(&head, ",\"maxStackDepth\":", snapshot_depth_max(snapshot));
    json_text_member(&head, ",\"sampleCount\":", snapshot_sample_count(snapshot));
    json_text_member(&head, ",\"timeOriginMicros\":", first_us);
    json_text_member(&head, ",\"timeExtentMicros\":", snapshot_last_us(snapshot) - first_us);
    json_text_member(&head, ",\"pid\":", begun->pid);
    json_text_literal(&head, ",\"samples\":\"");
    return reply_trace(client, reply, snapshot, NULL, &head);
}

/* Both ends belong to it, and hold where both were given. */
static struct timeline_span span_of(const struct told_window *window, bool bounded)
{
    int64_t to_us;

    if (__builtin_add_overflow(window->origin_us, window->extent_us, &to_us))
        to_us = INT64_MAX;
    return (struct timeline_span){ bounded, window->origin_us, to_us };
}

static int reply_timeline(struct client *client, struct reply *reply,
                          const struct samples_reply *begun, struct told_window window,
                          bool bounded)
{
    struct timeline_span span = span_of(&window, bounded);
    struct timeline_order *order = NULL;
    struct json_text head;
    int rc = timeline_order_take(&order, client->service->options.profile, &span, true);

    if (rc < 0) {
        snapshot_free(begun->snapshot);
        return samples_reply_result(client, rc);
    }
    head = begin_head(begun);
    json_text_member(&head,
                     "{\"type\":\"PerfettoTimeline\",\"timeOriginMicros\":", window.origin_us);
    json_text_member(&head, ",\"timeExtentMicros\":", window.extent_us);
    json_text_literal(&head, ",\"trace\":\"");
    return reply_trace(client, reply, begun->snapshot, order, &head);
}

/* The window holds as in getCpuSamples. */
int handle_get_perfetto_cpu_samples(struct client *client,
                                    const struct get_perfetto_cpu_samples_params *params,
                                    struct reply *reply)
{
    CLEANUP(samples_reply_end) struct samples_reply begun = { 0 };
    struct snapshot_window window = window_if_given(params->time_origin_us, params->time_extent_us);
    int rc = samples_reply_enabled(client);

    if (rc)
        return rc;
    window.counted = true;
    rc = samples_reply_begin(client, reply, params->isolate, &window, &begun);
    return rc ? rc : reply_samples(client, reply, &begun);
}

static bool are_given(int64_t origin_us, int64_t extent_us)
{
    return window_if_given(origin_us, extent_us).bounded;
}

int handle_get_perfetto_vm_timeline(struct client *client,
                                    const struct get_perfetto_vm_timeline_params *params,
                                    struct reply *reply)
{
    CLEANUP(samples_reply_end) struct samples_reply begun = { 0 };
    int rc = samples_reply_begin_empty(client, reply, &begun);

    if (rc)
        return rc;
    return reply_timeline(
        client, reply, &begun,
        told_window(client->service, params->time_origin_us, params->time_extent_us),
        are_given(params->time_origin_us, params->time_extent_us));
}

/* Those of all processes: the timeline is the whole VM's. */
int handle_get_perfetto_vm_timeline_with_cpu_samples(
    struct client *client, const struct get_perfetto_vm_timeline_with_cpu_samples_params *params,
    struct reply *reply)
{
    struct told_window told =
        told_window(client->service, params->time_origin_us, params->time_extent_us);
    struct snapshot_window window = window_between(told.origin_us, told.extent_us);
    CLEANUP(samples_reply_end) struct samples_reply begun = { 0 };
    int rc;

    window.counted = true;
    rc = samples_reply_begin(client, reply, NULL, &window, &begun);
    return rc ? rc
              : reply_timeline(client, reply, &begun, told,
                               are_given(params->time_origin_us, params->time_extent_us));
}
