#include "profile.h"

#include "../include/isoscope/isoscope.h"
#include "events/streams.h"
#include "intake/collector.h"
#include "loops/watcher.h"
#include "parts.h"
#include "symbols/files/symbol_server.h"

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

bool profile_apply_process_settings(struct profile *profile, uint64_t process_id,
                                    const struct process_settings *settings)
{
    struct process_settings told = *settings;

    if (!profile->collector)
        return false;
    if (told.period_us)
        told.period_us =
            profile_clamped((struct feed_settings){ .period_us = told.period_us }).period_us;
    if (!processes_apply_own(profile->processes, process_id, &told))
        return false;
    collector_wake(profile->collector);
    return true;
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
