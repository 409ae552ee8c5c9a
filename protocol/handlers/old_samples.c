/*
 * old_samples.c - samples under the names of before 3.27.
 */
#include "handlers.h"
#include "../client/samples_reply.h"
#include "../legacy/old_profile.h"
#include "../../sampler/feed/cleanup.h"

/* As samples_reply_begin. */
static int begin_old_samples(struct client *client, struct reply *reply,
                             const struct isolate *isolate, struct snapshot_window *window,
                             struct samples_reply *out)
{
    int rc = samples_reply_enabled(client);

    window->counted = true;
    return rc ? rc : samples_reply_begin(client, reply, isolate, window, out);
}

int handle_private_get_cpu_profile(struct client *client,
                                   const struct private_get_cpu_profile_params *params,
                                   struct reply *reply)
{
    CLEANUP(samples_reply_end) struct samples_reply begun = { 0 };
    struct snapshot_window window = { 0 };
    int rc = begin_old_samples(client, reply, params->isolate, &window, &begun);

    if (rc)
        return rc;
    return samples_reply_result(
        client, old_profile_new(&reply->samples, begun.snapshot, begun.envelope, params->tags));
}

int handle_private_get_cpu_profile_timeline(
    struct client *client, const struct private_get_cpu_profile_timeline_params *params,
    struct reply *reply)
{
    CLEANUP(samples_reply_end) struct samples_reply begun = { 0 };
    struct snapshot_window window = { 0 };
    int rc;

    if (params->time_origin_us >= 0 && params->time_extent_us >= 0)
        window = (struct snapshot_window){ .bounded = true,
                                           .origin_us = params->time_origin_us,
                                           .extent_us = params->time_extent_us };
    rc = begin_old_samples(client, reply, params->isolate, &window, &begun);
    if (rc)
        return rc;
    return samples_reply_result(
        client, old_timeline_new(&reply->samples, begun.snapshot, begun.envelope, params->isolate));
}

int handle_private_clear_cpu_profile(struct client *client,
                                     const struct private_clear_cpu_profile_params *params,
                                     struct reply *reply)
{
    const struct clear_cpu_samples_params clear = { .isolate = params->isolate };

    return handle_clear_cpu_samples(client, &clear, reply);
}
