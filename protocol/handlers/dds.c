/*
 * What the Dart Development Service adds to the protocol, for clients that look for it. There is
 * none: the service itself answers, and lists "DDS" among its protocols. Or one comes in front of it,
 * and is the one client in place of all others.
 */
#include "handlers.h"
#include "../client/client.h"
#include "../client/saved.h"
#include "../events/history.h"
#include "../events/streams.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int handle_get_dart_development_service_version(struct client *client, struct reply *reply)
{
    return answer(
        client, reply,
        json_pack("{s:s, s:i, s:i}", "type", TYPE_VERSION, "major", DDS_MAJOR, "minor", DDS_MINOR));
}

int handle_get_client_name(struct client *client, struct reply *reply)
{
    char number[24];

    snprintf(number, sizeof(number), "client%u", client->number);
    return answer(client, reply,
                  json_pack("{s:s, s:s}", "type", TYPE_CLIENT_NAME, "name",
                            client->name ? client->name : number));
}

/* An empty name is none. */
int handle_set_client_name(struct client *client, const struct set_client_name_params *params,
                           struct reply *reply)
{
    char *name = *params->name ? strdup(params->name) : NULL;

    if (*params->name && !name)
        return fail(client, RPC_INTERNAL_ERROR, "out of memory");
    free(client->name);
    client->name = name;
    return answer_success(client, reply);
}

/* No program is ever paused, so there is nothing that these could hold back or set going. */
int handle_require_permission_to_resume(struct client *client,
                                        const struct require_permission_to_resume_params *params,
                                        struct reply *reply)
{
    (void)params;
    return answer_success(client, reply);
}

int handle_require_user_permission_to_resume(
    struct client *client, const struct require_user_permission_to_resume_params *params,
    struct reply *reply)
{
    client->service->user_resumes_start = params->on_pause_start;
    client->service->user_resumes_exit = params->on_pause_exit;
    return answer_success(client, reply);
}

int handle_get_require_user_permission_to_resume(struct client *client, struct reply *reply)
{
    return answer(client, reply,
                  json_pack("{s:s, s:b, s:b}", "type", TYPE_RESUME_PERMISSIONS_REQUIRED,
                            "onPauseStart", client->service->user_resumes_start, "onPauseExit",
                            client->service->user_resumes_exit));
}

int handle_private_set_stream_include_private_members(
    struct client *client, const struct private_set_stream_include_private_members_params *params,
    struct reply *reply)
{
    (void)params;
    return answer_success(client, reply);
}

int handle_ready_to_resume(struct client *client, const struct ready_to_resume_params *params,
                           struct reply *reply)
{
    (void)params;
    return answer_success(client, reply);
}

static json_t *events_of(const struct history *history)
{
    const struct past_event *past = NULL;
    json_t *list = json_array();

    while ((past = history_next(history, past))) {
        if (json_array_append(list, past_event_json(past)) < 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static const struct history *find_history(struct client *client, const char *stream)
{
    for (int i = 0; i < STREAM_ID_COUNT; i++)
        if (!strcmp(stream_id_words[i], stream))
            return histories_find(client->service->histories, (enum stream_id)i);
    return NULL;
}

int handle_get_stream_history(struct client *client, const struct get_stream_history_params *params,
                              struct reply *reply)
{
    const struct history *history = find_history(client, params->stream);

    if (!history)
        return fail(client, RPC_INVALID_PARAMS,
                    "getStreamHistory: no history is kept of the stream '%s'", params->stream);
    return answer(
        client, reply,
        json_pack("{s:s, s:o}", "type", TYPE_STREAM_HISTORY, "history", events_of(history)));
}

int handle_get_log_history_size(struct client *client, struct reply *reply)
{
    return answer(client, reply,
                  json_pack("{s:s, s:I}", "type", TYPE_SIZE, "size",
                            (json_int_t)histories_log_limit(client->service->histories)));
}

int handle_set_log_history_size(struct client *client,
                                const struct set_log_history_size_params *params,
                                struct reply *reply)
{
    if (params->size > HISTORY_EVENTS_MAX)
        return fail(client, RPC_INVALID_PARAMS, "setLogHistorySize: at most %d events are kept",
                    HISTORY_EVENTS_MAX);
    histories_limit_log(client->service->histories, (size_t)params->size);
    return answer_success(client, reply);
}

/* ToolEvent is the tools' own; on Extension nobody else speaks here, and all listen. */
int handle_post_event(struct client *client, const struct post_event_params *params,
                      struct reply *reply)
{
    for (int i = 0; i < STREAM_ID_COUNT; i++) {
        if (strcmp(stream_id_words[i], params->stream))
            continue;
        if (i != STREAM_ID_TOOL_EVENT && i != STREAM_ID_EXTENSION)
            return fail(client, RPC_CORE_STREAM_NOT_ALLOWED,
                        "postEvent: only the service itself sends on '%s'", params->stream);
        if (!streams_posted(client->service, (enum stream_id)i, params->event_kind,
                            params->event_data))
            return fail(client, RPC_SERVER_ERROR,
                        "postEvent: a client that listens to '%s' has too much to read; nobody got "
                        "the event, post it again later",
                        params->stream);
        return answer_success(client, reply);
    }
    return fail(client, RPC_CUSTOM_STREAM_DOES_NOT_EXIST, "postEvent: nobody listens to '%s'",
                params->stream);
}

/* ---- one in front ---- */

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
