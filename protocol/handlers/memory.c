#include "handlers.h"
#include "../client/client.h"
#include "../client/samples_reply.h"
#include "../client/saved.h"
#include "../memory/heaps.h"
#include "../memory/process_memory.h"
#include "../samples/allocation_sites.h"
#include "../../sampler/include/isoscope/isoscope.h"

#include <stdlib.h>

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

/* members: taken over. */
static json_t *allocations(const struct process_memory *memory, json_t *members)
{
    return json_pack("{s:s, s:o, s:o}", "type", TYPE_ALLOCATION_PROFILE, "memoryUsage",
                     memory_usage(memory), "members", members);
}

struct taking_sites {
    struct unfinished unfinished; /* the first: this is one */
    struct allocation_sums all, live;
};

static void free_taking(struct unfinished *unfinished)
{
    struct taking_sites *taking = (struct taking_sites *)unfinished;

    allocation_sums_free(&taking->all);
    allocation_sums_free(&taking->live);
    free(taking);
}

static int begin_taking(struct client *client, struct request *request, uint64_t process_id)
{
    struct profile *profile = client->service->options.profile;
    struct snapshot_window all = { .kind = SAMPLES_OF_ALLOCATIONS, .process_id = process_id };
    struct snapshot_window live = { .kind = SAMPLES_OF_LIVE, .process_id = process_id };
    struct taking_sites *taking = calloc(1, sizeof(*taking));
    int rc;

    if (!taking)
        return -ISOSCOPE_NO_MEMORY;
    taking->unfinished.free = free_taking;
    request->unfinished = &taking->unfinished;
    if (client->service->allocations_since_us) {
        all.bounded = true;
        all.origin_us = client->service->allocations_since_us;
        all.extent_us = INT64_MAX - all.origin_us;
    }
    rc = snapshot_begin(&taking->all.snapshot, profile, &all);
    return rc ? rc : snapshot_begin(&taking->live.snapshot, profile, &live);
}

/* By function that allocates, in as many turns as it needs. 0, or what the handler is to return. */
static int take_sites(struct client *client, struct request *request, const struct isolate *isolate,
                      bool heaps, json_t **out)
{
    struct service *service = client->service;
    struct taking_sites *taking;
    int rc = 0;

    if (isolate->tid || !profile_settings(service->options.profile).allocation_bytes) {
        *out = json_array(); /* all is the process' */
        return 0;
    }
    if (!request->unfinished)
        rc = begin_taking(client, request, isolate->process->id);
    taking = (struct taking_sites *)request->unfinished;
    if (!rc)
        rc = allocation_sums_step(&taking->all, &service->work);
    if (!rc)
        rc = allocation_sums_step(&taking->live, &service->work);
    if (rc > 0)
        return HANDLER_WORKS;
    if (!rc)
        *out = allocation_sites_json(&taking->all, &taking->live, heaps);
    request_finish(request);
    return samples_reply_result(client, rc);
}

static int reply_allocations(struct client *client, struct reply *reply,
                             const struct isolate *isolate, bool reset, bool heaps)
{
    struct process_memory memory = memory_of(client, isolate);
    json_t *members = NULL, *profile;
    int rc = take_sites(client, reply->request, isolate, heaps, &members);

    if (rc)
        return rc;
    if (reset)
        client->service->allocations_since_us = service_now_us(client->service);
    profile = allocations(&memory, members);
    if (heaps)
        json_object_set_new(profile, "_heaps", heaps_json(&memory));
    return answer(client, reply, profile);
}

int handle_get_allocation_profile(struct client *client,
                                  const struct get_allocation_profile_params *params,
                                  struct reply *reply)
{
    return reply_allocations(client, reply, params->isolate, params->reset, false);
}

int handle_private_get_allocation_profile(
    struct client *client, const struct private_get_allocation_profile_params *params,
    struct reply *reply)
{
    return reply_allocations(client, reply, params->isolate, params->reset, true);
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
