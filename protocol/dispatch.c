#include "dispatch.h"

#include "client/answer.h"
#include "events/offers.h"
#include "generated/methods.h"
#include "methods.h"
#include "params.h"

#include "../sampler/profile/control.h"

#include <stdlib.h>

/* Without an id nobody waits. An id of null gets an answer only where the VM's router gives one. */
static bool wants_answer(const struct request *request, bool routing)
{
    return request->id && (routing || !json_is_null(request->id));
}

static void push_failure(struct client *client, const struct request *request, bool routing)
{
    struct rpc_failure *failure = &client->failure;

    failure->routing |= routing;
    if (wants_answer(request, routing))
        client_push_text(client, rpc_error_text(request, failure));
    free(failure->details);
    *failure = (struct rpc_failure){ 0 };
}

/* Takes over what is in reply. */
static void push_reply(struct client *client, const struct request *request, bool routing,
                       struct reply *reply)
{
    if (!wants_answer(request, routing))
        reply_stream_free(reply->samples);
    else if (reply->samples && outbox_push_samples(&client->outbox, reply->samples) < 0)
        client_close(client, CLOSE_NO_MEMORY, "out of memory");
    else if (reply->result)
        client_push_text(client, rpc_result_text(request, reply->result));
    json_decref(reply->result);
}

/* Takes over request. */
static void wait(struct client *client, struct request *request)
{
    struct request **end = &client->waiting;

    if (client->waiting_count == WAITING_MAX) {
        fail(client, RPC_SERVER_ERROR, "%d requests of this client wait for samples already",
             WAITING_MAX);
        push_failure(client, request, false);
        return request_free(request);
    }
    while (*end)
        end = &(*end)->next;
    request->next = NULL;
    *end = request;
    client->waiting_count++;
}

/* What the handler will look at is up to date. */
static int prepare(struct client *client, struct request *request, const struct method *method)
{
    if (request->unfinished)
        return 0;
    request->polls = client->service->polls;
    if (method->traits & METHOD_DRAINS && !request->drained)
        profile_sync(client->service->options.profile);
    request->drained = true;
    if (service_refresh(client->service) < 0)
        return fail(client, RPC_INTERNAL_ERROR, "out of memory");
    return 0;
}

/* 0, a negative rpc_error, HANDLER_WAITS or HANDLER_WORKS. */
static int handle(struct client *client, struct request *request, const struct method *method,
                  struct reply *reply)
{
    union method_params params;
    int rc = prepare(client, request, method);

    if (rc < 0)
        return rc;
    switch (params_check(client, request, method, &params, reply)) {
    case PARAMS_GOOD:
        rc = method->call(client, &params, reply);
        break;
    case PARAMS_ANSWERED:
        break;
    case PARAMS_FAILED:
        rc = -(int)client->failure.error;
        break;
    }
    return rc;
}

/* No method of ours: perhaps another client's. */
static int handle_foreign(struct client *client, const struct request *request)
{
    return offers_means(request->method) ? offers_call(client, request)
                                         : fail_plain(client, RPC_METHOD_NOT_FOUND);
}

/* The call that it would wait for has come while it worked: none follows. */
static bool waits_in_vain(const struct client *client, const struct request *request, int rc)
{
    return rc == HANDLER_WAITS && request->polls != client->service->polls;
}

void dispatch(struct client *client, struct request *request)
{
    const struct method *method = method_find(request->method);
    bool routing = method && method->traits & METHOD_ROUTING;
    struct reply reply = { .request = request };
    int rc;

    rc = method ? handle(client, request, method, &reply) : handle_foreign(client, request);
    request->works = rc == HANDLER_WORKS || waits_in_vain(client, request, rc);
    if (rc > 0)
        return wait(client, request);
    if (rc < 0)
        push_failure(client, request, routing);
    else
        push_reply(client, request, routing, &reply);
    request_free(request);
}

/* There is one. */
static struct request *take_first(struct client *client)
{
    struct request *request = client->waiting;

    client->waiting = request->next;
    client->waiting_count--;
    return request;
}

/* Those that have more to do anyhow wait for their turn, and so do all when this one is over. */
static void dispatch_again(struct client *client, struct request *request)
{
    if (client->closing_code)
        return request_free(request);
    request->works |= client->service->work <= 0;
    if (request->works)
        wait(client, request);
    else
        dispatch(client, request);
}

/* What those behind one hold counts for it; who waits again stands behind them. */
void dispatch_waiting(struct client *client)
{
    for (unsigned left = client->waiting_count; left; left--)
        dispatch_again(client, take_first(client));
}

/* Where the first one is linked; at the end of the list there is none. */
static struct request **find_working(struct client *client)
{
    struct request **link = &client->waiting;

    while (*link && !(*link)->works)
        link = &(*link)->next;
    return link;
}

bool dispatch_works(const struct client *client)
{
    for (const struct request *request = client->waiting; request; request = request->next)
        if (request->works)
            return !client->closing_code;
    return false;
}

void dispatch_working(struct client *client)
{
    struct request **link = find_working(client), *request = *link;
    unsigned waiting = client->waiting_count;

    if (!request)
        return;
    *link = request->next;
    client->waiting_count--;
    dispatch(client, request);
    if (client->waiting_count < waiting) /* another may begin in its place */
        dispatch_waiting(client);
}

void dispatch_clear(struct client *client)
{
    while (client->waiting) {
        struct request *next = client->waiting->next;

        request_free(client->waiting);
        client->waiting = next;
    }
    client->waiting_count = 0;
}

void dispatch_broken(struct client *client, struct request *request, struct rpc_failure *failure)
{
    /* Wrong parameters of a notification: it has a method, it is just not answered. */
    if (request->id || failure->error == RPC_INVALID_REQUEST)
        client_push_text(client, rpc_error_text(request, failure));
    free(failure->details);
    request_free(request);
}
