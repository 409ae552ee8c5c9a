#include "handlers.h"
#include "table_reply.h"
#include "../client/client.h"
#include "../client/samples_reply.h"
#include "../client/saved.h"
#include "../client/windows.h"
#include "../events/streams.h"
#include "../samples/cpu_samples_writer.h"
#include "../../sampler/feed/cleanup.h"
#include "../../sampler/include/isoscope/isoscope.h"
#include "../../sampler/profile/control.h"

#include <string.h>

/* What of the samples is told. */
struct telling {
    const struct cpu_samples_dialect *dialect;
    bool codes, pcs;
};

static int reply_samples(struct client *client, struct reply *reply, const struct isolate *isolate,
                         struct snapshot_window *window, const struct telling *telling)
{
    CLEANUP(samples_reply_end) struct samples_reply begun = { 0 };
    struct cpu_samples_options options = { .dialect = telling->dialect,
                                           .codes = telling->codes,
                                           .pcs = telling->pcs,
                                           .kind = window->kind,
                                           .tells_progress = window->partial_names_ok,
                                           .several = !isolate };
    int rc = samples_reply_begin(client, reply, isolate, window, &begun);

    if (rc)
        return rc;
    options.envelope = begun.envelope;
    options.counters = begun.counters;
    options.pid = begun.pid;
    options.symbols = profile_symbols(client->service->options.profile);
    options.user_tag = window->user_tags ? window->user_tags[0] : NULL;
    options.evicted = begun.process && begun.process->evicted;
    return samples_reply_result(client,
                                cpu_samples_writer_new(&reply->samples, begun.snapshot, &options));
}

/* The window holds when both ends are given, as in the VM. */
int handle_get_cpu_samples(struct client *client, const struct get_cpu_samples_params *params,
                           struct reply *reply)
{
    struct telling telling = { .dialect = &cpu_samples_public, .codes = params->private_code };
    struct snapshot_window window = window_if_given(params->time_origin_us, params->time_extent_us);
    int rc = samples_reply_enabled(client);

    if (rc)
        return rc;
    window.partial_names_ok = params->symbols == SYMBOLS_WANTED_AVAILABLE;
    window.counted = true;
    return reply_samples(client, reply, params->isolate, &window, &telling);
}

/* classId is of no use: a native program's memory has no classes. */
int handle_get_allocation_traces(struct client *client,
                                 const struct get_allocation_traces_params *params,
                                 struct reply *reply)
{
    static const struct telling telling = { .dialect = &cpu_samples_public };
    struct snapshot_window window = window_if_given(params->time_origin_us, params->time_extent_us);

    if (!profile_settings(client->service->options.profile).allocation_bytes)
        return fail(client, RPC_FEATURE_DISABLED, "Allocations are not sampled.");
    window.kind = SAMPLES_OF_ALLOCATIONS;
    return reply_samples(client, reply, params->isolate, &window, &telling);
}

struct wanted_tag {
    const char *name;
    bool found;
};

static void compare_tag(void *context, const char *user_tag)
{
    struct wanted_tag *wanted = context;

    wanted->found |= !strcmp(user_tag, wanted->name);
}

/* The store keeps samples of all tags: each that has some is cached. */
int handle_get_cached_cpu_samples(struct client *client,
                                  const struct get_cached_cpu_samples_params *params,
                                  struct reply *reply)
{
    static const struct telling telling = { .dialect = &cpu_samples_public };
    const char *const tags[] = { params->user_tag, NULL };
    struct snapshot_window window = { .user_tags = tags, .counted = true };
    struct wanted_tag wanted = { .name = params->user_tag };

    if (profile_user_tags(client->service->options.profile, compare_tag, &wanted) < 0)
        return answer(client, reply, NULL);
    if (!wanted.found && !reply->request->unfinished)
        return fail(client, RPC_INVALID_PARAMS,
                    "getCachedCpuSamples: there are no samples with the userTag '%s'",
                    params->user_tag);
    return reply_samples(client, reply, params->isolate, &window, &telling);
}

/* Also while the profiler is off: what was sampled is there to be read. */
int handle_private_get_cpu_samples(struct client *client,
                                   const struct private_get_cpu_samples_params *params,
                                   struct reply *reply)
{
    struct telling telling = { .dialect = &cpu_samples_article, .pcs = params->pcs };
    struct snapshot_window window = { 0 };

    if (params->form == SAMPLES_FORM_TABLE)
        return table_reply(client, params, reply);
    if (params->timestamp_us > 0)
        window = window_between(params->timestamp_us, INT64_MAX - params->timestamp_us);
    window.kind = samples_kind_of(params->kind);
    window.count_max = (uint64_t)params->count;
    window.partial_names_ok = params->symbols == SYMBOLS_WANTED_AVAILABLE;
    return reply_samples(client, reply, params->isolate, &window, &telling);
}

int handle_clear_cpu_samples(struct client *client, const struct clear_cpu_samples_params *params,
                             struct reply *reply)
{
    struct profile *profile = client->service->options.profile;
    const struct isolate *isolate = params->isolate;
    int rc = refuse_saved(client, "its samples cannot be cleared");

    if (rc)
        return rc;
    if (isolate->tid)
        profile_clear_thread(profile, isolate->process->id, isolate->tid);
    else
        profile_clear(profile, isolate->process->id);
    streams_samples_cleared(client->service, isolate);
    return answer_success(client, reply);
}

/* isolateId is checked, but the switch is one for all processes: they share the profile. */
int handle_private_enable_profiler(struct client *client,
                                   const struct private_enable_profiler_params *params,
                                   struct reply *reply)
{
    const struct set_flag_params flag = { .name = "profiler",
                                          .value = params->enable ? "true" : "false" };

    return handle_set_flag(client, &flag, reply);
}
