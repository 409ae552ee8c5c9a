#include "handlers.h"
#include "../client/client.h"
#include "../events/frame_events.h"
#include "../events/offers.h"
#include "../events/streams.h"
#include "../events/tagged_samples.h"
#include "../events/timeline_events.h"

#include <string.h>

int handle_stream_listen(struct client *client, const struct stream_listen_params *params,
                         struct reply *reply)
{
    uint32_t bit = 1u << params->stream_id;

    if (client->streams & bit)
        return fail_plain(client, RPC_STREAM_ALREADY_SUBSCRIBED);
    client->streams |= bit;
    streams_follow(client->service);
    /* Before the answer, as the VM: who reads the answer knows all. */
    if (params->stream_id == STREAM_ID_SERVICE || params->stream_id == STREAM_ID_PRIVATE_SERVICE)
        offers_tell(client, params->stream_id);
    streams_replay(client, params->stream_id);
    if (params->stream_id == STREAM_ID_PROFILER)
        tagged_samples_send(client);
    if (params->stream_id == STREAM_ID_TIMELINE)
        timeline_events_begin(client);
    if (params->stream_id == STREAM_ID_EXTENSION)
        frame_events_poll(client->service);
    return answer_success(client, reply);
}

/* 0: there is no such stream. */
static uint32_t bit_of(const char *name)
{
    for (unsigned stream = 0; stream < STREAM_ID_COUNT; stream++)
        if (!strcmp(stream_id_words[stream], name))
            return 1u << stream;
    return 0;
}

int handle_stream_cancel(struct client *client, const struct stream_cancel_params *params,
                         struct reply *reply)
{
    uint32_t bit = bit_of(params->stream_id);

    if (!(client->streams & bit))
        return fail_plain(client, RPC_STREAM_NOT_SUBSCRIBED);
    client->streams &= ~bit;
    streams_follow(client->service);
    return answer_success(client, reply);
}
