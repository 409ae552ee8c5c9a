/*
 * frames.c - the frames of the timeline, as a table.
 */
#include "handlers.h"
#include "../client/samples_reply.h"
#include "../client/windows.h"
#include "../timeline/frames_writer.h"
#include "../../sampler/feed/cleanup.h"

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
