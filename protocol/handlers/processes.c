#include "handlers.h"
#include "../client/saved.h"
#include "../isolates/isolates.h"
#include "../samples/counters.h"
#include "../text/any_text.h"
#include "../../sampler/profile/control.h"

#include <stdio.h>
#include <string.h>

enum { LISTED_MAX = 1000, PROBLEM_BYTES = 512, NS_PER_US = 1000 };

static bool found_in(const char *text, const char *search)
{
    return strcasestr(text, search) != NULL;
}

static bool is_found(int32_t pid, const char *name, const char *exe, const char *search)
{
    char number[16];

    if (!search || !*search)
        return true;
    snprintf(number, sizeof(number), "%d", (int)pid);
    return found_in(number, search) || found_in(name, search) || found_in(exe, search);
}

/* By its container, too. */
static bool lives_in(const struct process_info *process, const char *search)
{
    return found_in(process->place_label, search) || found_in(process->place.container, search);
}

/* Of a process, not of one of its threads. */
static json_t *listed(const struct service *service, const struct process_info *process)
{
    char group[48], isolate[48];

    snprintf(group, sizeof(group), "isolateGroups/%llu", (unsigned long long)process->id);
    snprintf(isolate, sizeof(isolate), "isolates/%llu", (unsigned long long)process->id);
    return json_pack("{s:i, s:o, s:o, s:o*, s:s, s:s, s:I, s:b, s:I, s:s, s:I, s:I, s:I}", "pid",
                     process->pid, "name", any_text(process->name), "exe", any_text(process->exe),
                     "place", isolate_place_label(process), "isolateGroupId", group, "isolateId",
                     isolate, "startTime", (json_int_t)service_epoch_ms(service, process->start_us),
                     "sampling", process->enabled, "periodMicros", (json_int_t)process->period_us,
                     "timer", counters_timer(process), "cpuMicros",
                     (json_int_t)(process->status.cpu_ns / NS_PER_US), "samples",
                     (json_int_t)process->samples, "evicted", (json_int_t)process->evicted);
}

static const struct process_info *live_process(const struct service *service, int64_t pid)
{
    const struct process_list *now = &service->isolates.now;

    for (size_t i = now->count; i-- > 0;)
        if (now->items[i].live && now->items[i].pid == pid)
            return &now->items[i];
    return NULL;
}

/* Where others are told while they are looked for. */
struct others {
    const struct service *service;
    const char *search;
    size_t most;
    json_t *list;
};

static void tell_other(void *context, int32_t pid, const char *name)
{
    struct others *others = context;

    if (!live_process(others->service, pid) && is_found(pid, name, "", others->search) &&
        json_array_size(others->list) < others->most)
        json_array_append_new(others->list,
                              json_pack("{s:i, s:o}", "pid", pid, "name", any_text(name)));
}

static void tell_program(void *list, const char *program, const struct process_settings *settings)
{
    json_array_append_new(list, json_pack("{s:o, s:b, s:I}", "program", any_text(program),
                                          "sampling", settings->enabled, "periodMicros",
                                          (json_int_t)settings->period_us));
}

static void tell_session(void *list, const char *path)
{
    json_array_append_new(list, any_text(path));
}

/* Takes over reply. */
static json_t *with_kept(json_t *reply, const struct service_keeper *keeper,
                         const struct service_earlier *earlier)
{
    json_t *programs = json_array(), *sessions = json_array();

    if (keeper->programs) {
        keeper->programs(keeper->context, tell_program, programs);
        json_object_set(reply, "programs", programs);
    }
    if (earlier->sessions) {
        earlier->sessions(earlier->context, tell_session, sessions);
        json_object_set(reply, "sessions", sessions);
    }
    json_decref(programs);
    json_decref(sessions);
    return reply;
}

int handle_private_get_process_list(struct client *client,
                                    const struct private_get_process_list_params *params,
                                    struct reply *reply)
{
    const struct service *service = client->service;
    const struct process_list *now = &service->isolates.now;
    const struct service_attacher *attacher = &service->options.attacher;
    size_t most = params->count && params->count < LISTED_MAX ? (size_t)params->count : LISTED_MAX;
    struct others others = { service, params->search, most, json_array() };
    json_t *list = json_array();
    size_t found = 0;

    for (size_t i = 0; i < now->count; i++) {
        const struct process_info *process = &now->items[i];

        if (!process->live ||
            (!is_found(process->pid, process->name, process->exe, params->search) &&
             !lives_in(process, params->search)))
            continue;
        if (found++ < most)
            json_array_append_new(list, listed(service, process));
    }
    if (params->others && attacher->others)
        attacher->others(attacher->context, tell_other, &others);
    return answer(
        client, reply,
        with_kept(json_pack("{s:s, s:o, s:I, s:b, s:o}", "type", TYPE_PRIVATE_PROCESS_LIST,
                            "processes", list, "found", (json_int_t)found, "attaches",
                            attacher->attach != NULL, "others", others.list),
                  &service->options.keeper, &service->options.earlier));
}

static int no_process(struct client *client, int64_t pid)
{
    return fail(client, RPC_INVALID_PARAMS, "pid: no process %lld is sampled here", (long long)pid);
}

/* What both methods that switch have in common: an error of the handler's, or 0. */
static int read_settings(struct client *client, enum private_process_sampling sampling,
                         int64_t period_us, struct process_settings *out)
{
    int rc = refuse_saved(client, "the sampling of its processes cannot be switched");

    *out = (struct process_settings){ .given = sampling != PRIVATE_PROCESS_SAMPLING_DEFAULT,
                                      .enabled = sampling == PRIVATE_PROCESS_SAMPLING_ON,
                                      .period_us = (uint32_t)period_us };
    if (rc)
        return rc;
    if (period_us && !out->given)
        return fail(client, RPC_INVALID_PARAMS,
                    "periodMicros: a period of its own goes with \"on\" or \"off\"");
    if (period_us && (period_us < FEED_PERIOD_MIN_US || period_us > FEED_PERIOD_MAX_US))
        return fail(client, RPC_INVALID_PARAMS, "periodMicros: expected %d to %d",
                    FEED_PERIOD_MIN_US, FEED_PERIOD_MAX_US);
    return 0;
}

int handle_private_set_process_sampling(struct client *client,
                                        const struct private_set_process_sampling_params *params,
                                        struct reply *reply)
{
    const struct process_info *process = live_process(client->service, params->pid);
    const struct service_keeper *keeper = &client->service->options.keeper;
    struct process_settings settings;
    int rc = read_settings(client, params->sampling, params->period_micros, &settings);

    if (rc)
        return rc;
    if (!process ||
        !profile_apply_process_settings(client->service->options.profile, process->id, &settings))
        return no_process(client, params->pid);
    if (keeper->process)
        keeper->process(keeper->context, process->pid, &settings);
    return answer_success(client, reply);
}

int handle_private_set_program_sampling(struct client *client,
                                        const struct private_set_program_sampling_params *params,
                                        struct reply *reply)
{
    const struct service_keeper *keeper = &client->service->options.keeper;
    char problem[PROBLEM_BYTES] = "";
    struct process_settings settings;
    int rc = read_settings(client, params->sampling, params->period_micros, &settings);

    if (rc)
        return rc;
    if (!keeper->program)
        return fail(client, RPC_FEATURE_DISABLED,
                    "only a service of all programs of a user keeps settings: `isoscope serve "
                    "--socket %s`",
                    "PATH");
    if (!keeper->program(keeper->context, params->program, &settings, problem, sizeof(problem)))
        return fail(client, RPC_INVALID_PARAMS, "program: %s", problem);
    return answer_success(client, reply);
}

static int refuse_attach(struct client *client)
{
    return fail(client, RPC_FEATURE_DISABLED,
                "only a service of all programs of a user attaches to them: `isoscope serve "
                "--socket`; else `isoscope attach %s`",
                "PID");
}

int handle_private_attach(struct client *client, const struct private_attach_params *params,
                          struct reply *reply)
{
    const struct service_attacher *attacher = &client->service->options.attacher;
    char problem[PROBLEM_BYTES] = "";

    if (!attacher->attach)
        return refuse_attach(client);
    if (live_process(client->service, params->pid))
        return fail(client, RPC_INVALID_PARAMS, "pid: process %lld is sampled already",
                    (long long)params->pid);
    if (params->pid > INT32_MAX ||
        !attacher->attach(attacher->context, (int32_t)params->pid, (enum service_via)params->via,
                          problem, sizeof(problem)))
        return fail(client, RPC_INVALID_PARAMS, "pid: %s",
                    problem[0] ? problem : "there is no such process");
    return answer_success(client, reply);
}

int handle_private_detach(struct client *client, const struct private_detach_params *params,
                          struct reply *reply)
{
    const struct service_attacher *attacher = &client->service->options.attacher;

    if (!attacher->attach)
        return refuse_attach(client);
    if (params->pid > INT32_MAX || !attacher->detach(attacher->context, (int32_t)params->pid))
        return fail(client, RPC_INVALID_PARAMS, "pid: process %lld was not attached to from here",
                    (long long)params->pid);
    return answer_success(client, reply);
}
