#include "handlers.h"
#include "../client/client.h"
#include "../events/streams.h"

#include <stdio.h>
#include <string.h>

static int invalid_name(struct client *client, const char *method, const char *name)
{
    return fail(client, RPC_INVALID_PARAMS, "%s: invalid 'name' parameter: %s", method, name);
}

int handle_set_vm_name(struct client *client, const struct set_vm_name_params *params,
                       struct reply *reply)
{
    struct service *service = client->service;

    if (strlen(params->name) >= sizeof(service->vm_name))
        return invalid_name(client, "setVMName", params->name);
    snprintf(service->vm_name, sizeof(service->vm_name), "%s", params->name);
    streams_vm_renamed(service);
    return answer_success(client, reply);
}

int handle_set_name(struct client *client, const struct set_name_params *params,
                    struct reply *reply)
{
    struct isolates *isolates = &client->service->isolates;

    if (strlen(params->name) > ISOLATE_NAME_MAX)
        return invalid_name(client, "setName", params->name);
    if (isolates_set_name(isolates, params->isolate, params->name) < 0)
        return answer(client, reply, NULL);
    streams_isolate_changed(client->service, KIND_ISOLATE_UPDATE, params->isolate);
    return answer_success(client, reply);
}
