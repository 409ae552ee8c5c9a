/*
 * _getSession: all that the profile has, as a session file.
 */
#include "handlers.h"
#include "../client/client.h"
#include "../client/samples_reply.h"
#include "../samples/session_stream.h"
#include "../../sampler/feed/cleanup.h"
#include "../../sampler/include/isoscope/isoscope.h"
#include "../../sampler/profile/recorder.h"

static char *state(void *service)
{
    return service_state(service);
}

/* The names first: once the file is on its way, nothing else can be sent to this client. A saved
 * session has all that it will ever have. */
static int await_names(struct client *client, struct reply *reply, bool available,
                       struct samples_reply *begun)
{
    struct snapshot_window all = { 0 };
    int rc;

    if (available || client->service->saved)
        return samples_reply_begin_empty(client, reply, begun);
    rc = samples_reply_begin(client, reply, NULL, &all, begun);
    snapshot_freep(&begun->snapshot);
    return rc;
}

int handle_private_get_session(struct client *client,
                               const struct private_get_session_params *params, struct reply *reply)
{
    CLEANUP(samples_reply_end) struct samples_reply begun = { 0 };
    struct service *service = client->service;
    const struct session_options options = { .command = service->options.command,
                                             .sources = params->sources,
                                             .state = state,
                                             .context = service };
    struct save *save;
    int rc = await_names(client, reply, params->symbols == SYMBOLS_WANTED_AVAILABLE, &begun);

    if (rc)
        return rc;
    rc = save_begin(&save, service->options.profile, &options, true);
    if (rc == 0)
        rc = session_stream_new(&reply->samples, save, begun.envelope);
    return samples_reply_result(client, rc);
}
