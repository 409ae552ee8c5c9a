#include "offers.h"

#include "streams.h"
#include "../client/answer.h"
#include "../client/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct offer {
    struct offer *next;
    char *service, *alias;
};

struct call {
    struct call *next;
    struct client *caller; /* NULL: it has gone, or wants no answer */
    json_t *id;            /* the caller's; NULL where it wants no answer */
    unsigned number;
};

struct offers {
    struct offer *first;
    unsigned count;
    struct call *calls; /* that this client is to answer; by number */
    unsigned call_count;
};

struct offers *offers_new(void)
{
    return calloc(1, sizeof(struct offers));
}

bool offers_any(const struct offers *offers)
{
    return offers->first;
}

static const struct offer *find_offer(const struct client *client, const char *service)
{
    const struct offer *offer = client->offers->first;

    while (offer && strcmp(offer->service, service))
        offer = offer->next;
    return offer;
}

static void free_offer(struct offer *offer)
{
    free(offer->service);
    free(offer->alias);
    free(offer);
}

/* Behind the others: a late listener hears of them in the order they came. */
static bool add_offer(struct offers *offers, const char *service, const char *alias)
{
    struct offer *offer = calloc(1, sizeof(*offer)), **end = &offers->first;

    if (!offer)
        return false;
    offer->service = strdup(service);
    offer->alias = strdup(alias);
    if (!offer->service || !offer->alias) {
        free_offer(offer);
        return false;
    }
    while (*end)
        end = &(*end)->next;
    *end = offer;
    offers->count++;
    return true;
}

int offers_register(struct client *client, const char *method, const char *service,
                    const char *alias)
{
    struct offers *offers = client->offers;

    if (!*service || !*alias)
        return fail_routing(client, RPC_INVALID_PARAMS, "%s: invalid '%s' parameter: ", method,
                            *service ? "alias" : "service");
    if (find_offer(client, service))
        return fail_plain(client, RPC_SERVICE_ALREADY_REGISTERED);
    if (offers->count == SERVICE_OFFERS_MAX)
        return fail_routing(client, RPC_SERVER_ERROR, "%s: this client offers %d services already",
                            method, SERVICE_OFFERS_MAX);
    if (strlen(service) > SERVICE_NAME_MAX || strlen(alias) > SERVICE_NAME_MAX)
        return fail_routing(client, RPC_INVALID_PARAMS,
                            "%s: a service's name and alias have at most %d bytes", method,
                            SERVICE_NAME_MAX);
    if (!streams_service_fits(client, service, alias))
        return fail_routing(client, RPC_SERVER_ERROR,
                            "%s: a client that listens to Service has too much to read; register "
                            "again later",
                            method);
    if (!add_offer(offers, service, alias))
        return fail(client, RPC_INTERNAL_ERROR, "out of memory");
    streams_service_changed(client, service, alias);
    return 0;
}

/* The number behind "s", up to the dot; false when it is no such name. */
static bool read_namespace(const char *method, unsigned *out)
{
    unsigned long number;
    char *end;

    if (method[0] != 's' || method[1] < '0' || method[1] > '9')
        return false;
    number = strtoul(method + 1, &end, 10);
    *out = number <= UINT32_MAX ? (unsigned)number : UINT32_MAX;
    return *end == '.';
}

bool offers_means(const char *method)
{
    unsigned number;

    return read_namespace(method, &number);
}

/* The newest is first in the list, so this finds them in the order they came. */
static const struct client *find_next(const struct service *service, const struct client *before)
{
    const struct client *next = NULL;

    for (const struct client *client = service->clients; client; client = client->next)
        if (!before || client->number > before->number)
            next = client;
    return next;
}

static struct client *find_client(struct service *service, unsigned number)
{
    struct client *client = service->clients;

    while (client && client->number != number)
        client = client->next;
    return client;
}

/* With the smallest number that is free. NULL: out of memory. */
static struct call *add_call(struct client *client, struct client *caller, json_t *id)
{
    struct call *call = calloc(1, sizeof(*call)), **at = &client->offers->calls;
    unsigned number = 0;

    if (!call)
        return NULL;
    while (*at && (*at)->number == number) {
        at = &(*at)->next;
        number++;
    }
    *call = (struct call){ *at, id ? caller : NULL, json_incref(id), number };
    *at = call;
    client->offers->call_count++;
    return call;
}

static void drop_call(struct client *client, struct call *call)
{
    struct call **at = &client->offers->calls;

    while (*at != call)
        at = &(*at)->next;
    *at = call->next;
    client->offers->call_count--;
    json_decref(call->id);
    free(call);
}

/* Parameters that say nothing are left out, as by the VM. */
static char *call_text(const struct call *call, const char *service, json_t *params)
{
    json_t *given = json_object_size(params) ? params : NULL;
    char id[16];

    snprintf(id, sizeof(id), "sr%u", call->number);
    return rpc_message_text(json_pack("{s:s, s:s, s:s, s:O*}", "jsonrpc", "2.0", "id", id, "method",
                                      service, "params", given));
}

static int fail_no_room(struct client *caller, const struct client *client, const char *method)
{
    return fail_routing(caller, RPC_SERVER_ERROR,
                        "%s has too much to read: %zu bytes of other clients wait for it; call "
                        "again when it has answered",
                        method, client->outbox.others_bytes);
}

/* Of "s0.x.echo" the first and the last part count. */
int offers_call(struct client *caller, const struct request *request)
{
    const char *service = strrchr(request->method, '.') + 1;
    json_t *id = json_is_null(request->id) ? NULL : request->id;
    struct call *call;
    struct client *client;
    unsigned number = 0;
    char *text;

    read_namespace(request->method, &number);
    client = find_client(caller->service, number);
    if (!client || !find_offer(client, service))
        return fail_routing(caller, RPC_METHOD_NOT_FOUND, "Unknown service: %s", request->method);
    if (client->offers->call_count == SERVICE_CALLS_MAX)
        return fail_routing(caller, RPC_SERVER_ERROR, "%s has %d calls to answer already",
                            request->method, SERVICE_CALLS_MAX);
    call = add_call(client, caller, id);
    if (!call)
        return fail_routing(caller, RPC_INTERNAL_ERROR, "out of memory");
    text = call_text(call, service, request->params);
    if (text && !client_has_room(client, strlen(text))) {
        free(text);
        drop_call(client, call);
        return fail_no_room(caller, client, request->method);
    }
    client_push_others_text(client, text);
    return 0;
}

static struct call *find_call(const struct client *client, const char *id)
{
    struct call *call = client->offers->calls;
    char name[16];

    for (; call; call = call->next) {
        snprintf(name, sizeof(name), "sr%u", call->number);
        if (!strcmp(name, id))
            return call;
    }
    return NULL;
}

/* Clients read result and error as objects: a service that gives something else has failed. */
static char *answer_text(const struct call *call, json_t *message)
{
    json_t *result = json_object_get(message, "result"), *error = json_object_get(message, "error");

    if (json_is_object(result))
        return rpc_message_text(
            json_pack("{s:s, s:O, s:O}", "jsonrpc", "2.0", "id", call->id, "result", result));
    if (json_is_object(error))
        return rpc_message_text(
            json_pack("{s:s, s:O, s:O}", "jsonrpc", "2.0", "id", call->id, "error", error));
    return rpc_failure_text(call->id, RPC_SERVER_ERROR,
                            "the service answered with neither a result nor an error");
}

/* Its size is the service's choice, not the caller's. */
static void pass_answer(const struct call *call, char *text)
{
    if (text && !client_has_room(call->caller, strlen(text))) {
        free(text);
        text = rpc_failure_text(call->id, RPC_SERVER_ERROR,
                                "the answer found no room: too many bytes of other clients wait "
                                "for this one");
    }
    client_push_others_text(call->caller, text);
}

bool offers_answer(struct client *client, json_t *message)
{
    const char *id = json_string_value(json_object_get(message, "id"));
    struct call *call = id ? find_call(client, id) : NULL;

    if (!call)
        return false;
    if (call->caller)
        pass_answer(call, answer_text(call, message));
    drop_call(client, call);
    return true;
}

void offers_tell(struct client *client, enum stream_id stream)
{
    const struct client *other = NULL;

    while ((other = find_next(client->service, other)))
        for (const struct offer *offer = other->offers->first; offer; offer = offer->next)
            if (other != client)
                streams_service_told(client, stream, other, offer->service, offer->alias);
}

/* Answers to these go nowhere. */
static void forget_caller(struct service *service, const struct client *caller)
{
    for (struct client *client = service->clients; client; client = client->next)
        for (struct call *call = client->offers->calls; call; call = call->next)
            if (call->caller == caller)
                call->caller = NULL;
}

void offers_end(struct client *client)
{
    struct offers *offers = client->offers;

    if (!offers)
        return;
    forget_caller(client->service, client);
    while (offers->first) {
        struct offer *offer = offers->first;

        offers->first = offer->next;
        streams_service_changed(client, offer->service, NULL);
        free_offer(offer);
    }
    while (offers->calls) {
        struct call *call = offers->calls;

        if (call->caller && call->caller != client)
            client_push_text(call->caller,
                             rpc_failure_text(call->id, RPC_SERVICE_HAS_DISAPPEARED, NULL));
        drop_call(client, call);
    }
    free(offers);
    client->offers = NULL;
}
