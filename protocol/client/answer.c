#include "answer.h"

#include "client.h"
#include "../generated/words.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static int fail_with(struct client *client, enum rpc_error error, bool routing, const char *format,
                     va_list arguments)
{
    struct rpc_failure *failure = &client->failure;

    free(failure->details);
    *failure = (struct rpc_failure){ .error = error, .routing = routing };
    if (vasprintf(&failure->details, format, arguments) < 0)
        failure->details = NULL;
    return -(int)error;
}

int fail(struct client *client, enum rpc_error error, const char *format, ...)
{
    va_list arguments;
    int rc;

    va_start(arguments, format);
    rc = fail_with(client, error, false, format, arguments);
    va_end(arguments);
    return rc;
}

int fail_routing(struct client *client, enum rpc_error error, const char *format, ...)
{
    va_list arguments;
    int rc;

    va_start(arguments, format);
    rc = fail_with(client, error, true, format, arguments);
    va_end(arguments);
    return rc;
}

int fail_plain(struct client *client, enum rpc_error error)
{
    free(client->failure.details);
    client->failure = (struct rpc_failure){ .error = error };
    return -(int)error;
}

int answer(struct client *client, struct reply *reply, json_t *result)
{
    reply->result = result;
    return result ? 0 : fail(client, RPC_INTERNAL_ERROR, "out of memory");
}

int answer_success(struct client *client, struct reply *reply)
{
    return answer(client, reply, json_pack("{s:s}", "type", TYPE_SUCCESS));
}
