/*
 * handlers_perfetto.c - samples, and the names of processes and threads, as Perfetto traces.
 */
#include "client.h"
#include "handlers.h"
#include "perfetto_packets.h"
#include "perfetto_writer.h"
#include "samples_reply.h"
#include "windows.h"
#include "../sampler/feed/cleanup.h"
#include "../sampler/include/isoscope/isoscope.h"

static void put_member(struct json_text *text, const char *name, int64_t value)
{
    json_text_raw(text, name, strlen(name));
    json_text_int(text, value);
}

/* Takes over the snapshot (NULL is fine) and head; its end is added here. */
static int reply_trace(struct client *client, struct reply *reply, struct snapshot *snapshot,
                       struct json_text *head, bool tracks)
{
    const struct service *service = client->service;
    struct perfetto_options options = { .profile = service->options.profile };
    int rc = -ISOSCOPE_NO_MEMORY;

    json_text_raw(head, "", 1);
    perfetto_clock(&options.first, service->options.monotonic_us());
    for (size_t i = 0; tracks && i < service->isolates.count; i++) {
        const struct isolate *isolate = &service->isolates.items[i];

        if (isolate->tid)
            perfetto_thread(&options.first, isolate->process->pid, isolate->tid, isolate->name);
        else
            perfetto_process(&options.first, isolate->process->pid, isolate->process->name);
    }
    options.before = head->data;
    if (head->failed) {
        json_text_free(&options.first);
        snapshot_free(snapshot);
    } else {
        rc = perfetto_writer_new(&reply->samples, snapshot, &options);
    }
    json_text_free(head);
    return rc < 0 ? samples_reply_fail(client, rc) : 0;
}

static struct json_text begin_head(const struct client *client)
{
    CLEANUP(samples_reply_free_text) char *envelope = samples_reply_envelope(client);
    struct json_text head = { .failed = !envelope };

    if (envelope)
        json_text_raw(&head, envelope, strlen(envelope));
    return head;
}

static int reply_samples(struct client *client, struct reply *reply, struct snapshot *snapshot,
                         const struct process_info *process)
{
    struct json_text head = begin_head(client);
    int64_t first_us = snapshot_first_us(snapshot);

    put_member(&head,
               "{\"type\":\"PerfettoCpuSamples\",\"samplePeriod\":", snapshot_period_us(snapshot));
    put_member(&head, ",\"maxStackDepth\":", snapshot_depth_max(snapshot));
    put_member(&head, ",\"sampleCount\":", snapshot_sample_count(snapshot));
    put_member(&head, ",\"timeOriginMicros\":", first_us);
    put_member(&head, ",\"timeExtentMicros\":", snapshot_last_us(snapshot) - first_us);
    put_member(&head, ",\"pid\":", process->pid);
    json_text_literal(&head, ",\"samples\":\"");
    return reply_trace(client, reply, snapshot, &head, false);
}

static int reply_timeline(struct client *client, struct reply *reply, struct snapshot *snapshot,
                          struct timeline_window window)
{
    struct json_text head = begin_head(client);

    put_member(&head, "{\"type\":\"PerfettoTimeline\",\"timeOriginMicros\":", window.origin_us);
    put_member(&head, ",\"timeExtentMicros\":", window.extent_us);
    json_text_literal(&head, ",\"trace\":\"");
    return reply_trace(client, reply, snapshot, &head, true);
}

/* The window holds as in getCpuSamples. */
int handle_get_perfetto_cpu_samples(struct client *client,
                                    const struct get_perfetto_cpu_samples_params *params,
                                    struct reply *reply)
{
    struct snapshot_window window = { 0 };
    struct snapshot *snapshot = NULL;
    int rc;

    if (!profile_enabled(client->service->options.profile))
        return fail(client, RPC_FEATURE_DISABLED, "Profiler is disabled.");
    if (params->time_origin_us != -1 && params->time_extent_us != -1)
        window = window_between(params->time_origin_us, params->time_extent_us);
    window.process_id = params->isolate->process->id;
    window.tid = params->isolate->tid;
    rc = samples_reply_take(client, &window, &snapshot);
    return rc ? rc : reply_samples(client, reply, snapshot, params->isolate->process);
}

int handle_get_perfetto_vm_timeline(struct client *client,
                                    const struct get_perfetto_vm_timeline_params *params,
                                    struct reply *reply)
{
    if (samples_reply_waits(client))
        return HANDLER_WAITS;
    return reply_timeline(
        client, reply, NULL,
        timeline_window(client->service, params->time_origin_us, params->time_extent_us));
}

/* Those of all processes: the timeline is the whole VM's. */
int handle_get_perfetto_vm_timeline_with_cpu_samples(
    struct client *client, const struct get_perfetto_vm_timeline_with_cpu_samples_params *params,
    struct reply *reply)
{
    struct timeline_window told =
        timeline_window(client->service, params->time_origin_us, params->time_extent_us);
    struct snapshot_window window = window_between(told.origin_us, told.extent_us);
    struct snapshot *snapshot = NULL;
    int rc;

    rc = samples_reply_take(client, &window, &snapshot);
    return rc ? rc : reply_timeline(client, reply, snapshot, told);
}
