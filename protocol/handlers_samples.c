#include "client.h"
#include "cpu_samples_writer.h"
#include "handlers.h"
#include "samples_reply.h"
#include "table_reply.h"
#include "windows.h"
#include "../sampler/feed/cleanup.h"
#include "../sampler/include/isoscope/isoscope.h"

#include <string.h>

/* What of the samples is told. */
struct telling {
    const struct cpu_samples_dialect *dialect;
    bool codes, pcs;
};

/* Takes over the snapshot. */
static int reply_samples(struct client *client, struct reply *reply, struct snapshot *snapshot,
                         const struct telling *telling, const struct isolate *isolate,
                         const struct snapshot_window *window)
{
    const struct process_info *process = isolate ? isolate->process : NULL;
    CLEANUP(samples_reply_free_text) char *counters = samples_reply_counters(client, process);
    CLEANUP(samples_reply_free_text) char *envelope = samples_reply_envelope(client);
    struct cpu_samples_options options = {
        .dialect = telling->dialect,
        .codes = telling->codes,
        .pcs = telling->pcs,
        .envelope = envelope,
        .counters = counters,
        .pid = samples_reply_pid(client, process),
        .tells_progress = window->available,
        .symbols = profile_symbols(client->service->options.profile),
        .several = !process,
        .user_tag = window->user_tags ? window->user_tags[0] : NULL,
        .evicted = process && process->evicted,
    };

    if (!counters || !envelope) {
        snapshot_free(snapshot);
        return samples_reply_fail(client, -ISOSCOPE_NO_MEMORY);
    }
    if (cpu_samples_writer_new(&reply->samples, snapshot, &options) < 0)
        return samples_reply_fail(client, -ISOSCOPE_NO_MEMORY);
    return 0;
}

static int take_samples(struct client *client, struct reply *reply, struct snapshot_window *window,
                        const struct telling *telling, const struct isolate *isolate)
{
    struct snapshot *snapshot = NULL;
    int rc;

    window->process_id = isolate ? isolate->process->id : 0;
    window->tid = isolate ? isolate->tid : 0;
    rc = samples_reply_take(client, window, &snapshot);
    return rc ? rc : reply_samples(client, reply, snapshot, telling, isolate, window);
}

/* The window holds when both ends are given, as in the VM; typed clients send -1 for neither. */
int handle_get_cpu_samples(struct client *client, const struct get_cpu_samples_params *params,
                           struct reply *reply)
{
    struct telling telling = { .dialect = &cpu_samples_public, .codes = params->private_code };
    struct snapshot_window window = { 0 };

    if (!profile_enabled(client->service->options.profile))
        return fail(client, RPC_FEATURE_DISABLED, "Profiler is disabled.");
    if (params->time_origin_us != -1 && params->time_extent_us != -1)
        window = window_between(params->time_origin_us, params->time_extent_us);
    window.available = params->symbols == SYMBOLS_WANTED_AVAILABLE;
    return take_samples(client, reply, &window, &telling, params->isolate);
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
    struct snapshot_window window = { .user_tags = tags };
    struct wanted_tag wanted = { .name = params->user_tag };

    if (profile_user_tags(client->service->options.profile, compare_tag, &wanted) < 0)
        return answer(client, reply, NULL);
    if (!wanted.found && !client->request->unfinished)
        return fail(client, RPC_INVALID_PARAMS,
                    "getCachedCpuSamples: there are no samples with the userTag '%s'",
                    params->user_tag);
    return take_samples(client, reply, &window, &telling, params->isolate);
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
    window.count_max = (uint64_t)params->count;
    window.available = params->symbols == SYMBOLS_WANTED_AVAILABLE;
    return take_samples(client, reply, &window, &telling, params->isolate);
}

int handle_clear_cpu_samples(struct client *client, const struct clear_cpu_samples_params *params,
                             struct reply *reply)
{
    struct profile *profile = client->service->options.profile;
    const struct isolate *isolate = params->isolate;

    if (isolate->tid)
        profile_clear_thread(profile, isolate->process->id, isolate->tid);
    else
        profile_clear(profile, isolate->process->id);
    return answer_success(client, reply);
}

/* isolateId is checked, but the switch is one for all processes: they share the profile. */
int handle_private_enable_profiler(struct client *client,
                                   const struct private_enable_profiler_params *params,
                                   struct reply *reply)
{
    flag_set(client->service, "profiler", params->enable ? "true" : "false");
    return answer_success(client, reply);
}
