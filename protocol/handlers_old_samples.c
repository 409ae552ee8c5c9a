/*
 * handlers_old_samples.c - samples under the names of before 3.27.
 */
#include "client.h"
#include "handlers.h"
#include "old_profile.h"
#include "../sampler/feed/cleanup.h"
#include "../sampler/include/isoscope/isoscope.h"

/* 0, a negative rpc_error or HANDLER_WAITS. */
static int take(struct client *client, const struct isolate *isolate,
                struct snapshot_window *window, struct snapshot **out)
{
    int rc;

    if (!profile_enabled(client->service->options.profile))
        return fail(client, RPC_FEATURE_DISABLED, "Profiler is disabled.");
    window->process_id = isolate->process->id;
    window->tid = isolate->tid;
    rc = snapshot_take(out, client->service->options.profile, window);
    if (rc == -ISOSCOPE_PENDING)
        return HANDLER_WAITS;
    return rc < 0 ? fail(client, RPC_INTERNAL_ERROR, "out of memory") : 0;
}

static int answer_text(struct client *client, struct reply *reply, char *text)
{
    reply->text = text;
    return text ? 0 : fail(client, RPC_INTERNAL_ERROR, "out of memory");
}

int handle_private_get_cpu_profile(struct client *client,
                                   const struct private_get_cpu_profile_params *params,
                                   struct reply *reply)
{
    CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
    struct snapshot_window window = { 0 };
    int rc = take(client, params->isolate, &window, &snapshot);

    if (rc)
        return rc;
    return answer_text(client, reply, old_profile_text(snapshot, params->tags));
}

int handle_private_get_cpu_profile_timeline(
    struct client *client, const struct private_get_cpu_profile_timeline_params *params,
    struct reply *reply)
{
    CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
    struct snapshot_window window = { 0 };
    int rc;

    if (params->time_origin_us >= 0 && params->time_extent_us >= 0)
        window = (struct snapshot_window){ .bounded = true,
                                           .origin_us = params->time_origin_us,
                                           .extent_us = params->time_extent_us };
    rc = take(client, params->isolate, &window, &snapshot);
    if (rc)
        return rc;
    return answer_text(client, reply, old_timeline_text(snapshot, params->isolate));
}

int handle_private_clear_cpu_profile(struct client *client,
                                     const struct private_clear_cpu_profile_params *params,
                                     struct reply *reply)
{
    const struct clear_cpu_samples_params clear = { .isolate = params->isolate };

    return handle_clear_cpu_samples(client, &clear, reply);
}
