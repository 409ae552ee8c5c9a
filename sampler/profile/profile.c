#include "profile.h"

#include "../include/isoscope/isoscope.h"
#include "collector.h"
#include "live.h"
#include "live_tables.h"
#include "parts.h"
#include "symbols/files/symbol_server.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint32_t clamp(uint32_t value, uint32_t least, uint32_t most)
{
    if (value < least)
        return least;
    return value < most ? value : most;
}

static uint32_t clamp_period(uint32_t period_us)
{
    return clamp(period_us, FEED_PERIOD_MIN_US, FEED_PERIOD_MAX_US);
}

static uint32_t clamp_depth(uint32_t depth_max)
{
    return clamp(depth_max, FEED_DEPTH_MIN, FEED_DEPTH_MAX);
}

static struct feed_settings settings_of(const struct profile_options *options)
{
    return (struct feed_settings){
        .enabled = options->enabled,
        .period_us = clamp_period(options->period_us ? options->period_us : FEED_PERIOD_DEFAULT_US),
        .depth_max = clamp_depth(options->depth_max ? options->depth_max : FEED_DEPTH_DEFAULT),
        .mode = options->mode,
        .wall_threads = "*",
    };
}

static int make_namer(struct profile *profile, const struct profile_options *options)
{
    const struct namer_options namer = {
        .registry = profile->registry,
        .functions = profile->functions,
        .chains = profile->chains,
        .changed = options->changed,
        .context = options->context,
        .ask_servers = options->debuginfod,
        .off = options->no_symbols,
    };

    profile->nameless = options->no_symbols;
    return namer_new(&profile->namer, &namer);
}

static void tables_done(void *context)
{
    const struct profile *profile = context;

    collector_wake(profile->collector);
}

static int make_parts(struct profile *profile, const struct profile_options *options)
{
    struct feed_settings settings = settings_of(options);
    struct collector_options collector = { .changed = options->changed,
                                           .context = options->context };
    int error;

    if ((error = store_new(&profile->store, options->store_bytes)) < 0 ||
        (error = registry_new(&profile->registry)) < 0 ||
        (error = functions_new(&profile->functions)) < 0 ||
        (error = chains_new(&profile->chains, CHAINS_BYTES_DEFAULT)) < 0 ||
        (error = make_namer(profile, options)) < 0 ||
        (error = processes_new(&profile->processes, profile->store, &settings)) < 0)
        return error;
    if (options->tables_path &&
        table_store_new(&profile->tables, options->tables_path, tables_done, profile) < 0)
        profile->tables = NULL;
    collector.processes = profile->processes;
    collector.store = profile->store;
    collector.registry = profile->registry;
    collector.namer = profile->namer;
    collector.tables = profile->tables;
    return collector_new(&profile->collector, &collector);
}

bool profile_has_tables(const struct profile *profile)
{
    return profile->tables;
}

struct profile_history profile_history(struct profile *profile)
{
    return store_history(profile->store);
}

const char *profile_debuginfod_problem(void)
{
    return symbol_server_problem();
}

int profile_new(struct profile **out, const struct profile_options *options)
{
    struct profile *profile = calloc(1, sizeof(*profile));
    int error = profile ? make_parts(profile, options) : -ISOSCOPE_NO_MEMORY;

    if (error) {
        profile_free(profile);
        return error;
    }
    *out = profile;
    return 0;
}

/* Users before what they use. */
void profile_free(struct profile *profile)
{
    if (!profile)
        return;
    live_tables_release(profile->live);
    if (profile->collector)
        collector_stop(profile->collector);
    table_store_free(profile->tables);
    collector_free(profile->collector);
    namer_free(profile->namer);
    processes_free(profile->processes);
    store_free(profile->store);
    chains_free(profile->chains);
    functions_free(profile->functions);
    registry_free(profile->registry);
    free(profile);
}

int profile_start(struct profile *profile)
{
    int error = namer_start(profile->namer);

    return error ? error : collector_start(profile->collector);
}

int profile_attach(struct profile *profile, int memfd, const struct profile_peer *peer,
                   uint64_t *process_id)
{
    return collector_attach(profile->collector, memfd, peer, process_id);
}

void profile_look(struct profile *profile)
{
    collector_wake(profile->collector);
}

void profile_hangup(struct profile *profile, uint64_t process_id, bool goodbye)
{
    processes_hangup(profile->processes, process_id, goodbye);
    collector_wake(profile->collector);
}

void profile_await_exit(struct profile *profile, int32_t pid)
{
    processes_await_exit(profile->processes, pid);
}

void profile_exited(struct profile *profile, int32_t pid, int wait_status)
{
    collector_exited(profile->collector, pid, wait_status);
}

size_t profile_processes(struct profile *profile, struct process_info *out, size_t capacity)
{
    return processes_list(profile->processes, out, capacity);
}

bool profile_process(struct profile *profile, uint64_t process_id, struct process_info *out)
{
    return processes_find(profile->processes, process_id, out);
}

bool profile_enabled(struct profile *profile)
{
    return processes_settings(profile->processes).enabled;
}

void profile_set_enabled(struct profile *profile, bool enabled)
{
    processes_set_enabled(profile->processes, enabled);
}

uint32_t profile_period_us(struct profile *profile)
{
    return processes_settings(profile->processes).period_us;
}

void profile_set_period_us(struct profile *profile, uint32_t period_us)
{
    processes_set_period_us(profile->processes, clamp_period(period_us));
}

uint32_t profile_depth_max(struct profile *profile)
{
    return processes_settings(profile->processes).depth_max;
}

void profile_set_depth_max(struct profile *profile, uint32_t depth_max)
{
    processes_set_depth_max(profile->processes, clamp_depth(depth_max));
}

enum feed_mode profile_mode(struct profile *profile)
{
    return processes_settings(profile->processes).mode;
}

void profile_set_mode(struct profile *profile, enum feed_mode mode)
{
    processes_set_mode(profile->processes, mode);
}

void profile_wall_threads(struct profile *profile, char out[FEED_WALL_THREADS_BYTES])
{
    struct feed_settings settings = processes_settings(profile->processes);

    memcpy(out, settings.wall_threads, FEED_WALL_THREADS_BYTES);
}

bool profile_set_wall_threads(struct profile *profile, const char *list)
{
    if (!*list || strlen(list) >= FEED_WALL_THREADS_BYTES)
        return false;
    processes_set_wall_threads(profile->processes, list);
    return true;
}

void profile_clear(struct profile *profile, uint64_t process_id)
{
    /* What was sampled before the call must not turn up after it. */
    profile_sync(profile);
    processes_clear(profile->processes, process_id);
}

void profile_clear_thread(struct profile *profile, uint64_t process_id, int32_t tid)
{
    profile_sync(profile);
    processes_clear_thread(profile->processes, process_id, tid);
}

size_t profile_threads(struct profile *profile, uint64_t process_id, struct profile_thread *out,
                       size_t capacity)
{
    return processes_threads(profile->processes, process_id, out, capacity);
}

void profile_sync(struct profile *profile)
{
    collector_sync(profile->collector);
}

struct profile_symbols profile_symbols(struct profile *profile)
{
    struct namer_progress progress = namer_progress(profile->namer);

    return (struct profile_symbols){ progress.done, progress.asked, progress.finished };
}

void profile_follow(struct profile *profile, bool follows)
{
    collector_follow(profile->collector, follows);
}
