#include "samples_reply.h"

#include "counters.h"
#include "dispatch.h"
#include "handlers.h"
#include "../sampler/include/isoscope/isoscope.h"

#include <stdlib.h>
#include <string.h>

bool samples_reply_waits(const struct client *client)
{
    return client->outbox.samples + dispatch_unfinished(client) >= SAMPLES_QUEUED_MAX;
}

struct half_taken {
    struct unfinished unfinished; /* the first: this is one */
    struct snapshot *snapshot;
};

static void free_half_taken(struct unfinished *unfinished)
{
    struct half_taken *half = (struct half_taken *)unfinished;

    snapshot_free(half->snapshot);
    free(half);
}

static int begin_snapshot(struct client *client, const struct snapshot_window *window)
{
    struct half_taken *half = calloc(1, sizeof(*half));

    if (!half)
        return -ISOSCOPE_NO_MEMORY;
    half->unfinished.free = free_half_taken;
    client->request->unfinished = &half->unfinished;
    return snapshot_begin(&half->snapshot, client->service->options.profile, window);
}

int samples_reply_take(struct client *client, const struct snapshot_window *window,
                       struct snapshot **out)
{
    struct request *request = client->request;
    struct half_taken *half;
    int rc = 0;

    if (!request->unfinished) {
        if (samples_reply_waits(client))
            return HANDLER_WAITS;
        rc = begin_snapshot(client, window);
    }
    half = (struct half_taken *)request->unfinished;
    if (!rc)
        rc = snapshot_step(half->snapshot, &client->service->work);
    if (rc > 0)
        return HANDLER_WORKS;
    if (!rc) {
        *out = half->snapshot;
        half->snapshot = NULL;
    }
    request_finish(request);
    return rc < 0 ? samples_reply_fail(client, rc) : 0;
}

/* A notification is not answered, but its text is composed all the same. */
char *samples_reply_envelope(const struct client *client)
{
    return client->request->id ? rpc_envelope_text(client->request) : strdup("");
}

char *samples_reply_counters(const struct client *client, const struct process_info *process)
{
    json_auto_t *counters = counters_json(&client->service->isolates, process);

    return json_dumps(counters, JSON_COMPACT);
}

int32_t samples_reply_pid(const struct client *client, const struct process_info *process)
{
    const struct process_info *shown =
        process ? process : isolates_main(&client->service->isolates);

    return shown ? shown->pid : 0;
}

int samples_reply_fail(struct client *client, int error)
{
    if (error == -ISOSCOPE_PENDING)
        return HANDLER_WAITS;
    return fail(client, RPC_INTERNAL_ERROR, "%s",
                error == -ISOSCOPE_NOT_FOUND ? "no such process" : "out of memory");
}

void samples_reply_free_text(char **text)
{
    free(*text);
}
