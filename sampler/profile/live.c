#include "profile.h"

#include "../include/isoscope/isoscope.h"
#include "intake/collector.h"
#include "loops/watcher.h"
#include "outside/bell.h"
#include "parts.h"
#include "runtimes/finder.h"
#include "stalls/teller.h"

#include <errno.h>

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
        (options->tables_continue ? table_store_continue : table_store_new)(
            &profile->tables, options->tables_path, look_now, profile) < 0) {
        profile->tables = NULL;
        profile->tables_problem = errno;
    }
    if ((error = runtime_finder_new(&profile->finder, NULL)) < 0 ||
        (error = rounds_new(&profile->rounds, profile->tables, options->tables_path)) < 0 ||
        (error = make_watcher(profile)) < 0)
        return error;
    collector.processes = profile->processes;
    collector.stores = &profile->stores;
    collector.events = profile->events;
    collector.streams = profile->streams;
    collector.registry = profile->registry;
    collector.symbolizer = profile->symbolizer;
    collector.tables = profile->tables;
    collector.finder = profile->finder;
    collector.rounds = profile->rounds;
    collector.watcher = profile->watcher;
    error = collector_new(&profile->collector, &collector);
    if (!error)
        error = make_teller(profile, options);
    if (!error && profile->tables) /* without it programs are heard a little later */
        bell_new(&profile->bell, options->tables_path, rung, profile);
    return error;
}

static void end_telling(struct profile *profile)
{
    teller_free(profile->teller);
}

int profile_new(struct profile **out, const struct profile_options *options)
{
    struct profile *profile;
    int error = profile_parts_new(&profile, options);

    if (error)
        return error;
    profile->before_free = end_telling;
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
