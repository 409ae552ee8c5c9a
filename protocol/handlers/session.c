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

#include <stdlib.h>

/* A file that is begun: its names are being read. */
struct half_saved {
    struct unfinished unfinished; /* the first: this is one */
    struct save *save;
};

static void free_half_saved(struct unfinished *unfinished)
{
    struct half_saved *half = (struct half_saved *)unfinished;

    save_free(half->save);
    free(half);
}

static char *state(void *service)
{
    return service_state(service);
}

static int begin(struct client *client, struct request *request,
                 const struct private_get_session_params *params)
{
    struct service *service = client->service;
    const struct session_options options = { .command = service->options.command,
                                             .sources = params->sources,
                                             .state = state,
                                             .context = service };
    struct half_saved *half = calloc(1, sizeof(*half));

    if (!half)
        return -ISOSCOPE_NO_MEMORY;
    half->unfinished.free = free_half_saved;
    request->unfinished = &half->unfinished;
    return save_begin(&half->save, service->options.profile, &options,
                      params->symbols == SYMBOLS_WANTED_AVAILABLE);
}

/* 0: it has begun; a negative isoscope_error, of which -ISOSCOPE_PENDING is none yet. */
static int step(struct half_saved *half, const void **bytes, size_t *count)
{
    int result = save_step(half->save, bytes, count);

    return result < 0 ? result : 0;
}

int handle_private_get_session(struct client *client,
                               const struct private_get_session_params *params, struct reply *reply)
{
    CLEANUP(samples_reply_end) struct samples_reply begun = { 0 };
    struct request *request = reply->request;
    const void *bytes = NULL;
    struct half_saved *half;
    struct save *save;
    size_t count = 0;
    int rc = samples_reply_begin_empty(client, reply, &begun);

    if (!rc && !request->unfinished)
        rc = samples_reply_result(client, begin(client, request, params));
    if (rc)
        return rc;
    half = (struct half_saved *)request->unfinished;
    rc = step(half, &bytes, &count);
    if (rc)
        return samples_reply_result(client, rc);
    save = half->save;
    half->save = NULL;
    return samples_reply_result(
        client, session_stream_new(&reply->samples, save, begun.envelope, bytes, count));
}
