#include "handlers.h"
#include "../client/client.h"
#include "../memory/heaps.h"
#include "../memory/process_memory.h"

/* Clients add up what the isolates have: all is the process', nothing its threads'. */
static struct process_memory memory_of(struct client *client, const struct isolate *isolate)
{
    if (isolate->tid)
        return (struct process_memory){ 0 };
    return profile_memory(client->service->options.profile, isolate->process->id);
}

static json_t *memory_usage(const struct process_memory *memory)
{
    return json_pack("{s:s, s:I, s:I, s:I}", "type", TYPE_MEMORY_USAGE, "heapUsage",
                     (json_int_t)memory->own_bytes, "heapCapacity",
                     (json_int_t)memory->reserved_bytes, "externalUsage",
                     (json_int_t)(memory->rss_bytes - memory->own_bytes));
}

int handle_get_memory_usage(struct client *client, const struct get_memory_usage_params *params,
                            struct reply *reply)
{
    struct process_memory memory = memory_of(client, params->isolate);

    return answer(client, reply, memory_usage(&memory));
}

int handle_get_isolate_group_memory_usage(
    struct client *client, const struct get_isolate_group_memory_usage_params *params,
    struct reply *reply)
{
    const struct isolate whole = { .process = params->isolate_group };
    struct process_memory memory = memory_of(client, &whole);

    return answer(client, reply, memory_usage(&memory));
}

static json_t *allocations(const struct process_memory *memory)
{
    return json_pack("{s:s, s:o, s:[]}", "type", TYPE_ALLOCATION_PROFILE, "memoryUsage",
                     memory_usage(memory), "members");
}

int handle_get_allocation_profile(struct client *client,
                                  const struct get_allocation_profile_params *params,
                                  struct reply *reply)
{
    struct process_memory memory = memory_of(client, params->isolate);

    return answer(client, reply, allocations(&memory));
}

int handle_private_get_allocation_profile(
    struct client *client, const struct private_get_allocation_profile_params *params,
    struct reply *reply)
{
    struct process_memory memory = memory_of(client, params->isolate);
    json_t *profile = allocations(&memory);

    json_object_set_new(profile, "_heaps", heaps_json(&memory));
    return answer(client, reply, profile);
}

/* What has ended has no memory; but a saved session has that of the recording's last moments. */
static bool has_memory(const struct service *service, const struct process_info *process)
{
    return process->live ||
           (service->saved && profile_memory(service->options.profile, process->id).rss_bytes);
}

/* One process is the tree, several are children of one. */
int handle_get_process_memory_usage(struct client *client, struct reply *reply)
{
    const struct process_info *process = NULL;
    json_t *list = json_array();
    json_t *root;

    while ((process = isolates_next(&client->service->isolates, process)))
        if (has_memory(client->service, process))
            json_array_append_new(list,
                                  process_memory_tree(client->service->options.profile, process));
    if (json_array_size(list) == 1) {
        root = json_incref(json_array_get(list, 0));
        json_decref(list);
    } else {
        root = process_memory_node("Processes", "Resident set size", list);
    }
    return answer(client, reply,
                  json_pack("{s:s, s:o}", "type", TYPE_PROCESS_MEMORY_USAGE, "root", root));
}
