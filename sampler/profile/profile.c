#include "profile.h"

#include "../include/isoscope/isoscope.h"
#include "intake/collector.h"
#include "follow.h"
#include "outside/bell.h"
#include "parts.h"
#include "symbols/files/symbol_server.h"
#include "view/follow_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint32_t clamp(uint32_t value, uint32_t least, uint32_t most)
{
    if (value < least)
        return least;
    return value < most ? value : most;
}

/* What programs are told. */
static struct feed_settings clamped(struct feed_settings settings)
{
    settings.period_us = clamp(settings.period_us, FEED_PERIOD_MIN_US, FEED_PERIOD_MAX_US);
    settings.depth_max = clamp(settings.depth_max, FEED_DEPTH_MIN, FEED_DEPTH_MAX);
    return settings;
}

static struct feed_settings settings_of(const struct profile_options *options)
{
    struct feed_settings settings = options->settings;

    if (!settings.period_us)
        settings.period_us = FEED_PERIOD_DEFAULT_US;
    if (!settings.depth_max)
        settings.depth_max = FEED_DEPTH_DEFAULT;
    if (!*settings.wall_threads)
        strcpy(settings.wall_threads, "*");
    return clamped(settings);
}

static int make_symbolizer(struct profile *profile, const struct profile_options *options)
{
    const struct symbolizer_options symbolizer = {
        .registry = profile->registry,
        .functions = profile->functions,
        .chains = profile->chains,
        .changed = options->changed,
        .context = options->context,
        .ask_servers = options->debuginfod,
        .off = options->no_symbols,
    };

    profile->nameless = options->no_symbols;
    return symbolizer_new(&profile->symbolizer, &symbolizer);
}

/* Tables are built, or a program has rung. */
static void look_now(void *context)
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

    if (options->source_root && !(profile->source_root = strdup(options->source_root)))
        return -ISOSCOPE_NO_MEMORY;
    if ((error = stores_new(&profile->stores, options->store_bytes)) < 0 ||
        (error = registry_new(&profile->registry)) < 0 ||
        (error = functions_new(&profile->functions)) < 0 ||
        (error = inline_chains_new(&profile->chains, INLINE_CHAINS_BYTES_DEFAULT)) < 0 ||
        (error = make_symbolizer(profile, options)) < 0 ||
        (error = processes_new(&profile->processes, &profile->stores, &settings)) < 0)
        return error;
    if (options->tables_path &&
        table_store_new(&profile->tables, options->tables_path, look_now, profile) < 0) {
        profile->tables = NULL;
        profile->tables_problem = errno;
    }
    if ((error = rounds_new(&profile->rounds, profile->tables, options->tables_path)) < 0)
        return error;
    collector.processes = profile->processes;
    collector.stores = &profile->stores;
    collector.registry = profile->registry;
    collector.symbolizer = profile->symbolizer;
    collector.tables = profile->tables;
    collector.rounds = profile->rounds;
    error = collector_new(&profile->collector, &collector);
    if (!error && profile->tables) /* without it programs are heard a little later */
        bell_new(&profile->bell, options->tables_path, look_now, profile);
    return error;
}

bool profile_has_tables(const struct profile *profile)
{
    return profile->tables;
}

int profile_tables_problem(const struct profile *profile)
{
    return profile->tables_problem;
}

struct profile_history profile_history(struct profile *profile)
{
    return stores_history(&profile->stores);
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
        int problem = errno;

        profile_free(profile);
        errno = problem;
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
    follow_tables_release(profile->follow);
    bell_free(profile->bell);
    if (profile->collector)
        collector_stop(profile->collector);
    if (profile->rounds)
        rounds_stop(profile->rounds);
    table_store_free(profile->tables);
    collector_free(profile->collector);
    symbolizer_free(profile->symbolizer);
    processes_free(profile->processes);
    rounds_free(profile->rounds);
    stores_free(&profile->stores);
    inline_chains_free(profile->chains);
    functions_free(profile->functions);
    registry_free(profile->registry);
    free(profile->source_root);
    free(profile);
}

int profile_start(struct profile *profile)
{
    int error;

    if ((error = symbolizer_start(profile->symbolizer)) < 0 ||
        (error = rounds_start(profile->rounds)) < 0)
        return error;
    return collector_start(profile->collector);
}

int profile_attach(struct profile *profile, int memfd, const struct profile_peer *peer,
                   uint64_t *process_id)
{
    return collector_attach(profile->collector, memfd, peer, process_id);
}

void profile_await_exit(struct profile *profile, int32_t pid)
{
    processes_await_exit(profile->processes, pid);
}

void profile_exited(struct profile *profile, const struct profile_exit *end)
{
    collector_exited(profile->collector, end);
}

struct profile_cpu profile_cpu(struct profile *profile)
{
    return processes_cpu(profile->processes);
}

size_t profile_processes(struct profile *profile, struct process_info *out, size_t capacity)
{
    return processes_list(profile->processes, out, capacity);
}

bool profile_process(struct profile *profile, uint64_t process_id, struct process_info *out)
{
    return processes_find(profile->processes, process_id, out);
}

uint64_t profile_version(struct profile *profile)
{
    return processes_version(profile->processes);
}

struct feed_settings profile_settings(struct profile *profile)
{
    return processes_settings(profile->processes);
}

void profile_apply_settings(struct profile *profile, const struct feed_settings *settings)
{
    const struct feed_settings told = clamped(*settings);

    processes_apply(profile->processes, &told);
    collector_wake(profile->collector);
    rounds_look(profile->rounds);
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
    struct symbolizer_progress progress = symbolizer_progress(profile->symbolizer);

    return (struct profile_symbols){ progress.done, progress.asked, progress.finished };
}

void profile_follow(struct profile *profile, bool follows)
{
    collector_follow(profile->collector, follows);
}
