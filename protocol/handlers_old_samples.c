/*
 * handlers_old_samples.c - samples under the names of before 3.27.
 */
#include "client.h"
#include "handlers.h"
#include "old_profile.h"
#include "samples_reply.h"
#include "../sampler/feed/cleanup.h"
#include "../sampler/include/isoscope/isoscope.h"

/* As samples_reply_take. */
static int take(struct client *client, const struct isolate *isolate,
                struct snapshot_window *window, struct snapshot **out)
{
    if (!profile_enabled(client->service->options.profile))
        return fail(client, RPC_FEATURE_DISABLED, "Profiler is disabled.");
    window->process_id = isolate->process->id;
    window->tid = isolate->tid;
    return samples_reply_take(client, window, out);
}

int handle_private_get_cpu_profile(struct client *client,
                                   const struct private_get_cpu_profile_params *params,
                                   struct reply *reply)
{
    CLEANUP(samples_reply_free_text) char *envelope = samples_reply_envelope(client);
    struct snapshot_window window = { 0 };
    struct snapshot *snapshot;
    int rc = envelope ? take(client, params->isolate, &window, &snapshot)
                      : samples_reply_fail(client, -ISOSCOPE_NO_MEMORY);

    if (rc)
        return rc;
    rc = old_profile_new(&reply->samples, snapshot, envelope, params->tags);
    return rc < 0 ? samples_reply_fail(client, rc) : 0;
}

int handle_private_get_cpu_profile_timeline(
    struct client *client, const struct private_get_cpu_profile_timeline_params *params,
    struct reply *reply)
{
    CLEANUP(samples_reply_free_text) char *envelope = samples_reply_envelope(client);
    struct snapshot_window window = { 0 };
    struct snapshot *snapshot;
    int rc;

    if (params->time_origin_us >= 0 && params->time_extent_us >= 0)
        window = (struct snapshot_window){ .bounded = true,
                                           .origin_us = params->time_origin_us,
                                           .extent_us = params->time_extent_us };
    rc = envelope ? take(client, params->isolate, &window, &snapshot)
                  : samples_reply_fail(client, -ISOSCOPE_NO_MEMORY);
    if (rc)
        return rc;
    rc = old_timeline_new(&reply->samples, snapshot, envelope, params->isolate);
    return rc < 0 ? samples_reply_fail(client, rc) : 0;
}

int handle_private_clear_cpu_profile(struct client *client,
                                     const struct private_clear_cpu_profile_params *params,
                                     struct reply *reply)
{
    const struct clear_cpu_samples_params clear = { .isolate = params->isolate };

    return handle_clear_cpu_samples(client, &clear, reply);
}
