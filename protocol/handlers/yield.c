/*
 * yield.c - a Dart Development Service in front: one client in place of all others.
 */
#include "handlers.h"
#include "../client/client.h"
#include "../client/saved.h"

#include <stdio.h>
#include <string.h>

enum { DDS_URI_MAX = 512 };

/* It becomes a header's value: nothing may end that. */
static bool is_uri(const char *uri)
{
    static const char *const schemes[] = { "http://", "https://", "ws://", "wss://" };
    bool known = false;

    for (size_t i = 0; i < sizeof(schemes) / sizeof(*schemes); i++) {
        size_t length = strlen(schemes[i]);

        known |= !strncmp(uri, schemes[i], length) && uri[length];
    }
    for (const char *at = uri; *at; at++)
        if (*at <= ' ' || *at > '~' || *at == '"' || *at == '<' || *at == '>' || *at == '\\')
            return false;
    return known && strlen(uri) <= DDS_URI_MAX;
}

static json_t *connected_event(const struct service *service)
{
    char message[DDS_URI_MAX + 128];

    snprintf(message, sizeof(message),
             "A Dart Development Service has taken over; connect to it at %s instead.",
             service->dds_uri);
    return json_pack("{s:s, s:s, s:I, s:s, s:s}", "type", TYPE_EVENT, "kind",
                     KIND_DART_DEVELOPMENT_SERVICE_CONNECTED, "timestamp",
                     (json_int_t)service_now_ms(service), "uri", service->dds_uri, "message",
                     message);
}

/* They are told whether they listen or not: none of them would hear it later. */
static void dismiss_others(struct service *service)
{
    for (struct client *client = service->clients; client; client = client->next) {
        if (client == service->dds || client->by_get)
            continue;
        client_push_text(client, rpc_notification_text(stream_id_words[STREAM_ID_SERVICE],
                                                       connected_event(service)));
        client_dismiss(client, CLOSE_NORMAL, "a Dart Development Service has taken over");
    }
}

static int refuse_second(struct client *client)
{
    int error = fail_routing(client, RPC_FEATURE_DISABLED,
                             "a Dart Development Service has taken over already: %s",
                             client->service->dds_uri);

    client->failure.dds_uri = client->service->dds_uri;
    return error;
}

int handle_private_yield_control_to_dds(struct client *client,
                                        const struct private_yield_control_to_dds_params *params,
                                        struct reply *reply)
{
    struct service *service = client->service;

    if (!service->options.allow_dds)
        return fail_routing(client, RPC_FEATURE_DISABLED,
                            "isoscope answers the methods of the Dart Development Service itself: "
                            "connect to it directly, without a DDS in between; `isoscope run "
                            "--allow-dds` lets one in");
    if (client->by_get)
        return fail_routing(client, RPC_FEATURE_DISABLED,
                            "_yieldControlToDDS is for a client that stays: use a WebSocket");
    if (service->dds)
        return refuse_second(client);
    if (!is_uri(params->uri))
        return fail_routing(client, RPC_INVALID_PARAMS,
                            "_yieldControlToDDS: invalid 'uri' parameter: %s", params->uri);
    service->dds_uri = strdup(params->uri);
    if (!service->dds_uri)
        return fail_routing(client, RPC_INTERNAL_ERROR, "out of memory");
    service->dds = client;
    dismiss_others(service);
    return answer_success(client, reply);
}
