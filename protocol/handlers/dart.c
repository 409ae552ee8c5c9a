/*
 * dart.c - lists of Dart's things that a native program has none of, or next to none.
 * Clients ask for them without need, and an empty list keeps their screens quiet.
 */
#include "handlers.h"
#include "../client/client.h"
#include "../client/saved.h"
#include "../objects/core_library.h"

static int answer_none(struct client *client, struct reply *reply, const char *type,
                       const char *list)
{
    return answer(client, reply, json_pack("{s:s, s:[]}", "type", type, list));
}

int handle_get_class_list(struct client *client, const struct get_class_list_params *params,
                          struct reply *reply)
{
    (void)params;
    return answer(client, reply,
                  json_pack("{s:s, s:o}", "type", TYPE_CLASS_LIST, "classes", core_class_refs()));
}

int handle_get_ports(struct client *client, const struct get_ports_params *params,
                     struct reply *reply)
{
    (void)params;
    return answer_none(client, reply, TYPE_PORT_LIST, "ports");
}

int handle_private_get_ports(struct client *client, const struct private_get_ports_params *params,
                             struct reply *reply)
{
    (void)params;
    return answer_none(client, reply, TYPE_PRIVATE_PORTS, "ports");
}

int handle_private_get_isolate_metric_list(
    struct client *client, const struct private_get_isolate_metric_list_params *params,
    struct reply *reply)
{
    (void)params;
    return answer_none(client, reply, TYPE_METRIC_LIST, "metrics");
}

int handle_private_get_vm_metric_list(struct client *client, struct reply *reply)
{
    return answer_none(client, reply, TYPE_METRIC_LIST, "metrics");
}

/* There are none, so nothing has the id. */
int handle_private_get_isolate_metric(struct client *client,
                                      const struct private_get_isolate_metric_params *params,
                                      struct reply *reply)
{
    (void)reply;
    return fail(client, RPC_INVALID_PARAMS, "_getIsolateMetric: invalid 'metricId' parameter: %s",
                params->metric_id);
}

int handle_ext_dart_io_get_version(struct client *client,
                                   const struct ext_dart_io_get_version_params *params,
                                   struct reply *reply)
{
    (void)params;
    return answer(client, reply,
                  json_pack("{s:s, s:i, s:i, s:i, s:i}", "type", TYPE_VERSION, "major", 4, "minor",
                            0, "_privateMajor", 0, "_privateMinor", 0));
}

int handle_ext_dart_io_get_socket_profile(
    struct client *client, const struct ext_dart_io_get_socket_profile_params *params,
    struct reply *reply)
{
    (void)params;
    return answer_none(client, reply, TYPE_SOCKET_PROFILE, "sockets");
}

int handle_ext_dart_io_get_http_profile(struct client *client,
                                        const struct ext_dart_io_get_http_profile_params *params,
                                        struct reply *reply)
{
    (void)params;
    return answer(client, reply,
                  json_pack("{s:s, s:I, s:[]}", "type", TYPE_HTTP_PROFILE, "timestamp",
                            (json_int_t)service_now_us(client->service), "requests"));
}
