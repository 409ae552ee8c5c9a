#include "profile.h"

#include "../include/isoscope/isoscope.h"
#include "events/event_store.h"
#include "events/streams.h"
#include "intake/collector.h"
#include "loops/watcher.h"
#include "outside/bell.h"
#include "parts.h"
#include "stalls/teller.h"
#include "symbols/files/symbol_server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Tables are built. */
static void look_now(void *context)
{
    const struct profile *profile = context;

    collector_wake(profile->collector);
}

/* A program has rung: perhaps for its loops. */
static void rung(void *context)
{
    const struct profile *profile = context;

    watcher_wake(profile->watcher);
    look_now(context);
}

static int make_watcher(struct profile *profile)
{
    const struct loop_reports reports = stall_log_reports(profile->stalls);
    const struct watcher_options watcher = { .reports = &reports };

    return watcher_new(&profile->watcher, &watcher);
}

static int make_teller(struct profile *profile, const struct profile_options *options)
{
    const struct teller_options teller = { .profile = profile,
                                           .log = profile->stalls,
                                           .changed = options->changed,
                                           .context = options->context };

    return teller_new(&profile->teller, &teller);
}

static int make_intake(struct profile *profile, const struct profile_options *options)
{
    struct collector_options collector = { .changed = options->changed,
                                           .context = options->context };
    int error;

    if (options->tables_path &&
        table_store_new(&profile->tables, options->tables_path, look_now, profile) < 0) {
        profile->tables = NULL;
        profile->tables_problem = errno;
    }
    if ((error = rounds_new(&profile->rounds, profile->tables, options->tables_path)) < 0 ||
        (error = make_watcher(profile)) < 0)
        return error;
    collector.processes = profile->processes;
    collector.stores = &profile->stores;
    collector.events = profile->events;
    collector.streams = profile->streams;
    collector.registry = profile->registry;
    collector.symbolizer = profile->symbolizer;
    collector.tables = profile->tables;
    collector.rounds = profile->rounds;
    collector.watcher = profile->watcher;
    error = collector_new(&profile->collector, &collector);
    if (!error)
        error = make_teller(profile, options);
    if (!error && profile->tables) /* without it programs are heard a little later */
        bell_new(&profile->bell, options->tables_path, rung, profile);
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
    struct profile *profile;
    int error = profile_parts_new(&profile, options);

    if (error)
        return error;
    error = make_intake(profile, options);
    if (error) {
        int problem = errno;

        profile_free(profile);
        errno = problem;
        return error;
    }
    *out = profile;
    return 0;
}

int profile_start(struct profile *profile)
{
    int error = symbolizer_start(profile->symbolizer);

    if (error || !profile->collector)
        return error;
    error = rounds_start(profile->rounds);
    if (!error)
        error = watcher_start(profile->watcher);
    if (!error)
        error = collector_start(profile->collector);
    return error ? error : teller_start(profile->teller);
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
    const struct feed_settings told = profile_clamped(*settings);

    if (!profile->collector)
        return;
    processes_apply(profile->processes, &told);
    collector_wake(profile->collector);
    rounds_look(profile->rounds);
}

void profile_apply_stall_settings(struct profile *profile, const struct stall_settings *settings)
{
    if (profile->watcher)
        watcher_apply(profile->watcher, settings);
}

static void tell_before_clear(struct profile *profile)
{
    if (profile->before_clear)
        profile->before_clear(profile->before_clear_context);
}

void profile_clear(struct profile *profile, uint64_t process_id)
{
    if (!profile->collector)
        return;
    /* What was sampled before the call must not turn up after it. */
    profile_sync(profile);
    tell_before_clear(profile);
    processes_clear(profile->processes, process_id);
}

void profile_clear_thread(struct profile *profile, uint64_t process_id, int32_t tid)
{
    if (!profile->collector)
        return;
    profile_sync(profile);
    tell_before_clear(profile);
    processes_clear_thread(profile->processes, process_id, tid);
}

int profile_timeline_record(struct profile *profile, const char *const *names, size_t count,
                            bool others)
{
    int error;

    if (!profile->collector)
        return 0;
    error = streams_record(profile->streams, names, count, others);
    collector_wake(profile->collector);
    return error;
}

void profile_timeline_clear(struct profile *profile, uint64_t process_id)
{
    if (!profile->collector)
        return;
    profile_sync(profile);
    tell_before_clear(profile);
    processes_clear_events(profile->processes, process_id);
}

size_t profile_threads(struct profile *profile, uint64_t process_id, struct profile_thread *out,
                       size_t capacity)
{
    return processes_threads(profile->processes, process_id, out, capacity);
}

void profile_sync(struct profile *profile)
{
    if (profile->collector)
        collector_sync(profile->collector);
}

struct profile_symbols profile_symbols(struct profile *profile)
{
    struct symbolizer_progress progress = symbolizer_progress(profile->symbolizer);

    return (struct profile_symbols){ progress.done, progress.asked, progress.finished };
}

void profile_follow(struct profile *profile, bool follows)
{
    if (profile->collector)
        collector_follow(profile->collector, follows);
}
