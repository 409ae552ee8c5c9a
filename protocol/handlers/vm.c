#include "handlers.h"
#include "../client/client.h"
#include "../client/saved.h"
#include "../client/unsampled.h"
#include "../events/event_json.h"
#include "../events/streams.h"
#include "../samples/counters.h"
#include "../text/any_text.h"
#include "../text/openrpc.h"
#include "../../sampler/profile/facts.h"

#include <stdio.h>

int handle_get_version(struct client *client, struct reply *reply)
{
    const struct service_options *options = &client->service->options;

    return answer(client, reply,
                  json_pack("{s:s, s:i, s:i, s:i, s:i}", "type", TYPE_VERSION, "major",
                            options->protocol_major, "minor", options->protocol_minor,
                            "_privateMajor", 0, "_privateMinor", 0));
}

int handle_get_supported_protocols(struct client *client, struct reply *reply)
{
    const struct service_options *options = &client->service->options;

    return answer(client, reply,
                  json_pack("{s:s, s:[{s:s, s:i, s:i}, {s:s, s:i, s:i}]}", "type",
                            TYPE_PROTOCOL_LIST, "protocols", "protocolName", "VM Service", "major",
                            options->protocol_major, "minor", options->protocol_minor,
                            "protocolName", "DDS", "major", DDS_MAJOR, "minor", DDS_MINOR));
}

/* In the isolates' order. */
static json_t *group_refs(const struct isolates *isolates)
{
    json_t *list = json_array();

    for (size_t i = 0; i < isolates->count; i++) {
        const struct isolate *isolate = &isolates->items[i];

        if (!isolate->tid && isolate->shown &&
            json_array_append_new(list, isolate_group_ref(isolate->process)) < 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *vm_process(const struct service *service)
{
    const struct process_info *process = isolates_main(&service->isolates);
    struct process_memory memory = { 0 };

    if (process)
        memory = profile_memory(service->options.profile, process->id);
    return json_pack(
        "{s:i, s:I, s:I, s:I, s:I, s:I}", "pid", process ? process->pid : 0, "startTime",
        (json_int_t)(process ? service_epoch_ms(service, process->start_us) : service->start_ms),
        "_serviceStartTime", (json_int_t)service->start_ms, "_maxRSS",
        (json_int_t)memory.rss_max_bytes, "_currentRSS", (json_int_t)memory.rss_bytes,
        "_currentMemory", (json_int_t)memory.own_bytes);
}

/* What makes the ticks, and how often: asked, and possible (0: not known yet). Of the main
 * process: what one was refused, all are. */
static json_t *vm_profiler(const struct service *service)
{
    const struct process_info *process = isolates_main(&service->isolates);

    return json_pack(
        "{s:s, s:I, s:I}", "_profilerTimer", counters_timer(process), "_profilerPeriodMicros",
        (json_int_t)profile_settings(service->options.profile).period_us,
        "_profilerTruePeriodMicros", (json_int_t)(process ? process->status.true_period_us : 0));
}

static json_t *vm_history(const struct service *service)
{
    const struct profile_history history = profile_history(service->options.profile);

    return json_pack("{s:I, s:I, s:I}", "bytes", (json_int_t)history.bytes, "bytesMax",
                     (json_int_t)history.bytes_max, "spanMicros",
                     (json_int_t)(history.last_us - history.first_us));
}

static json_t *vm_cpu_time(const struct service *service)
{
    enum { NS_PER_US = 1000 };
    const struct profile_cpu cpu = profile_cpu(service->options.profile);
    const uint64_t known_ns = cpu.sampled_ns + cpu.not_sampled_ns;
    json_t *told = json_pack("{s:I, s:I, s:I}", "processes", (json_int_t)cpu.processes,
                             "sampledMicros", (json_int_t)(cpu.sampled_ns / NS_PER_US),
                             "notSampledMicros", (json_int_t)(cpu.not_sampled_ns / NS_PER_US));
    const uint64_t more_ns = cpu.tree_ns > known_ns ? cpu.tree_ns - known_ns : 0;

    if (cpu.tree_ns)
        json_object_set_new(told, "withoutSamplerMicros",
                            json_integer((json_int_t)(more_ns / NS_PER_US)));
    return told;
}

/* Takes over vm. Of all processes isoscope is the parent of one. */
static json_t *with_exit(json_t *vm, const struct isolates *isolates)
{
    for (size_t i = 0; i < isolates->now.count; i++)
        if (isolates->now.items[i].exit_known)
            return isolate_with_exit(vm, "_exit", &isolates->now.items[i]);
    return vm;
}

int handle_get_vm(struct client *client, struct reply *reply)
{
    const struct service *service = client->service;
    const struct isolates *isolates = &service->isolates;
    const struct profile_symbols symbols = profile_symbols(service->options.profile);
    json_auto_t *process = vm_process(service);
    json_auto_t *profiler = vm_profiler(service);
    char version[96];
    json_t *vm;

    snprintf(version, sizeof(version), "%s (native) on \"linux_%s\"", service->options.version,
             service->target_cpu);
    vm = json_pack("{s:s, s:o, s:i, s:o, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, "
                   "s:[], s:o, s:[]}",
                   "type", TYPE_VM, "name", any_text(service->vm_name), "architectureBits",
                   (int)sizeof(void *) * 8, "hostCPU", any_text(service->host_cpu),
                   "operatingSystem", "linux", "targetCPU", service->target_cpu, "version", version,
                   "_features", "", "_profilerMode", "VM", "_embedder", "isoscope", "_symbols",
                   symbols_json(&symbols), "_history", vm_history(service), "_cpuTime",
                   vm_cpu_time(service), "isolates", isolate_refs(isolates, NULL), "_endedIsolates",
                   isolate_refs_unshown(isolates), "systemIsolates", "isolateGroups",
                   group_refs(isolates), "systemIsolateGroups");
    if (vm) {
        json_object_update(vm, process);
        json_object_update(vm, profiler);
    }
    vm = with_unsampled(with_exit(vm, isolates), service);
    return answer(client, reply, with_saved(vm, service));
}

int handle_get_vm_timeline_micros(struct client *client, struct reply *reply)
{
    return answer(client, reply,
                  json_pack("{s:s, s:I}", "type", TYPE_TIMESTAMP, "timestamp",
                            (json_int_t)service_now_us(client->service)));
}

int handle_get_flag_list(struct client *client, struct reply *reply)
{
    return answer(
        client, reply,
        json_pack("{s:s, s:o}", "type", TYPE_FLAG_LIST, "flags", flags_list(client->service)));
}

/* The VM answers a flag that cannot be set with a result, not with an error. */
int handle_set_flag(struct client *client, const struct set_flag_params *params,
                    struct reply *reply)
{
    static const char *const messages[] = {
        [FLAG_UNKNOWN] = "Cannot set flag: flag not found",
        [FLAG_INVALID] = "Cannot set flag: invalid value",
        [FLAG_FIXED] = "Cannot set flag: cannot change at runtime",
        [FLAG_NO_ALLOC] = "Cannot set flag: no program was started with --alloc",
        [FLAG_NO_LOCK] = "Cannot set flag: no program was started with --lock",
        [FLAG_NO_FAULTS] = "Cannot set flag: no program was started with --faults",
    };
    char now[FLAG_TEXT_MAX];
    enum flag_set set = flag_set(client->service, params->name, params->value, now);

    if (set == FLAG_SAVED)
        return refuse_saved(client, "no program runs whose sampling could be changed");
    if (set == FLAG_SET) {
        /* Also when nothing changed, as in the VM: a client may wait for it. */
        streams_flag_changed(client->service, params->name, now);
        return answer_success(client, reply);
    }
    return answer(client, reply,
                  json_pack("{s:s, s:s}", "type", TYPE_ERROR, "message", messages[set]));
}

int handle_rpc_discover(struct client *client, struct reply *reply)
{
    return answer(client, reply, json_loads(openrpc_text, 0, NULL));
}
