#include "handlers.h"
#include "../client/client.h"
#include "../events/event_json.h"
#include "../memory/heaps.h"
#include "../samples/counters.h"
#include "../samples/tag_counters.h"
#include "../text/any_text.h"

/* "Resume" is the kind of an isolate that runs: DevTools takes every other one for a pause. */
static json_t *pause_event(const struct service *service, const struct isolate *isolate)
{
    return isolate_event(KIND_RESUME, isolate,
                         service_epoch_ms(service, isolate->process->start_us));
}

/* What the sampler says of itself in this process. */
static json_t *process_json(const struct service *service, const struct process_info *process)
{
    const struct feed_status_view *status = &process->status;

    json_t *end = process->live ? NULL : json_integer(service_epoch_ms(service, process->end_us));
    json_t *json = json_pack(
        "{s:i, s:i, s:o, s:o*, s:b, s:o*, s:s, s:s*, s:I, s:o}", "pid", process->pid, "ppid",
        process->ppid, "exe", any_text(process->exe), "place", isolate_place(process), "live",
        process->live, "endTime", end, "timer", counters_timer(process), "timerReason",
        counters_timer_reason(process), "truePeriodMicros", (json_int_t)status->true_period_us,
        "counters", counters_json(&service->isolates, process));

    return isolate_with_exit(json, "exit", process);
}

/* The members of Isolate that are not in @Isolate. */
static json_t *isolate_details(const struct service *service, const struct isolate *isolate)
{
    const struct process_info *process = isolate->process;

    return json_pack("{s:I, s:[], s:b, s:i, s:b, s:b, s:o, s:o, s:[o], s:[], s:s, s:[]}",
                     "startTime", (json_int_t)service_epoch_ms(service, process->start_us),
                     "isolateFlags", "runnable", 1, "livePorts", 0, "pauseOnExit", 0,
                     "_isReloading", 0, "pauseEvent", pause_event(service, isolate), "rootLib",
                     isolate_root_library(process), "libraries", isolate_root_library(process),
                     "breakpoints", "exceptionPauseMode", "None", "extensionRPCs");
}

static json_t *isolate_private(const struct service *service, const struct isolate *isolate)
{
    const struct process_info *process = isolate->process;
    struct process_memory memory = { 0 };

    if (!isolate->tid)
        memory = profile_memory(service->options.profile, process->id);
    return json_pack("{s:o, s:o, s:o}", "_heaps", heaps_json(&memory), "_tagCounters",
                     tag_counters_json(service->options.profile, isolate), "_process",
                     process_json(service, process));
}

int handle_get_isolate(struct client *client, const struct get_isolate_params *params,
                       struct reply *reply)
{
    json_auto_t *details = isolate_details(client->service, params->isolate);
    json_auto_t *private = isolate_private(client->service, params->isolate);
    json_t *isolate = isolate_ref(params->isolate);

    if (!isolate || !details || !private) {
        json_decref(isolate);
        return answer(client, reply, NULL);
    }
    json_object_set_new(isolate, "type", json_string(TYPE_ISOLATE));
    json_object_set(isolate, "_originNumber", json_object_get(isolate, "number"));
    json_object_update(isolate, details);
    json_object_update(isolate, private);
    return answer(client, reply, isolate);
}

int handle_get_isolate_group(struct client *client, const struct get_isolate_group_params *params,
                             struct reply *reply)
{
    const struct process_info *process = params->isolate_group;
    json_t *group = isolate_group_ref(process);

    if (group) {
        json_object_set_new(group, "type", json_string(TYPE_ISOLATE_GROUP));
        json_object_set_new(group, "isolates", isolate_refs(&client->service->isolates, process));
    }
    return answer(client, reply, group);
}

int handle_get_isolate_pause_event(struct client *client,
                                   const struct get_isolate_pause_event_params *params,
                                   struct reply *reply)
{
    return answer(client, reply, pause_event(client->service, params->isolate));
}
