#include "samples_reply.h"

#include "counters.h"
#include "dispatch.h"
#include "handlers.h"
#include "../sampler/include/isoscope/isoscope.h"

#include <stdlib.h>
#include <string.h>

bool samples_reply_waits(const struct client *client)
{
    return client->outbox.samples >= SAMPLES_QUEUED_MAX;
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
        process ? process : isolates_first(&client->service->isolates);

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
