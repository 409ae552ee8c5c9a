/*
 * stalls.c - loops: which were late, and what their dispatches took.
 */
#include "handlers.h"
#include "../client/samples_reply.h"
#include "../client/saved.h"
#include "../client/windows.h"
#include "../events/streams.h"
#include "../stalls/loop_stats_writer.h"
#include "../stalls/stalls_writer.h"
#include "../../sampler/feed/cleanup.h"
#include "../../sampler/profile/control.h"

static struct stalls_window window_of(const struct private_get_stalls_params *params)
{
    struct snapshot_window given = window_if_given(params->time_origin_us, params->time_extent_us);

    return (struct stalls_window){ .process_id = params->isolate ? params->isolate->process->id : 0,
                                   .tid = params->isolate ? params->isolate->tid : 0,
                                   .bounded = given.bounded,
                                   .origin_us = given.origin_us,
                                   .extent_us = given.extent_us,
                                   .count_max = params->count < UINT32_MAX ? (uint32_t)params->count
                                                                           : UINT32_MAX };
}

int handle_private_get_stalls(struct client *client, const struct private_get_stalls_params *params,
                              struct reply *reply)
{
    CLEANUP(samples_reply_end) struct samples_reply begun = { 0 };
    struct service *service = client->service;
    struct stalls_window window = window_of(params);
    struct stalls_list list = { .profile = service->options.profile,
                                .clears = service->stall_clears };
    struct stall_cursor since = { 0 };
    int rc;

    if (params->since && !stall_cursor_parse(params->since, &since))
        return fail(client, RPC_INVALID_PARAMS,
                    "since: expected what an earlier reply gave as \"next\"");
    list.reset = params->since && since.clears != list.clears;
    window.since = list.reset ? 0 : since.change;
    rc = samples_reply_begin_empty(client, reply, &begun);
    if (!rc)
        rc = samples_reply_result(client, stalls_take(&list.stalls, list.profile, &window));
    if (rc)
        return rc;
    list.envelope = begun.envelope;
    return samples_reply_result(client, stalls_writer_new(&reply->samples, &list));
}

int handle_private_get_loop_stats(struct client *client,
                                  const struct private_get_loop_stats_params *params,
                                  struct reply *reply)
{
    CLEANUP(samples_reply_end) struct samples_reply begun = { 0 };
    const struct isolate *isolate = params->isolate;
    int rc = samples_reply_begin_empty(client, reply, &begun);

    if (rc)
        return rc;
    rc = loop_stats_writer_new(&reply->samples, client->service->options.profile,
                               isolate ? isolate->process->id : 0, isolate ? isolate->tid : 0,
                               begun.envelope);
    return samples_reply_result(client, rc);
}

int handle_private_clear_stalls(struct client *client,
                                const struct private_clear_stalls_params *params,
                                struct reply *reply)
{
    int rc = refuse_saved(client, "its stalls cannot be cleared");

    if (rc)
        return rc;
    profile_stalls_clear(client->service->options.profile,
                         params->isolate ? params->isolate->process->id : 0);
    client->service->stall_clears++;
    streams_stalls_cleared(client->service);
    return answer_success(client, reply);
}
