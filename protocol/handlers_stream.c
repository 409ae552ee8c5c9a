#include "client.h"
#include "handlers.h"

int handle_stream_listen(struct client *client, const union method_params *params,
                         struct reply *reply)
{
    const char *name = params->stream.stream_id;
    enum stream stream = stream_find(name);

    if (stream == STREAM_COUNT)
        return fail(client, RPC_INVALID_PARAMS, "streamListen: invalid 'streamId' parameter: %s",
                    name);
    if (client->streams & 1u << stream)
        return fail_plain(client, RPC_STREAM_ALREADY_SUBSCRIBED);
    client->streams |= 1u << stream;
    return answer_success(client, reply);
}

int handle_stream_cancel(struct client *client, const union method_params *params,
                         struct reply *reply)
{
    enum stream stream = stream_find(params->stream.stream_id);

    if (stream == STREAM_COUNT || !(client->streams & 1u << stream))
        return fail_plain(client, RPC_STREAM_NOT_SUBSCRIBED);
    client->streams &= ~(1u << stream);
    return answer_success(client, reply);
}
