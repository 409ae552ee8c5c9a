#include "parts.h"

#include "../include/isoscope/isoscope.h"
#include "events/event_store.h"
#include "events/streams.h"
#include "intake/collector.h"
#include "loops/kept_loops.h"
#include "loops/watcher.h"
#include "outside/bell.h"
#include "profile.h"
#include "runtimes/finder.h"
#include "facts/kept_facts.h"
#include "session/session_contents.h"
#include "stalls/stall_log.h"
#include "view/follow_tables.h"

#include <stdlib.h>
#include <string.h>

static uint32_t clamp(uint32_t value, uint32_t least, uint32_t most)
{
    if (value < least)
        return least;
    return value < most ? value : most;
}

/* What programs are told. */
struct feed_settings profile_clamped(struct feed_settings settings)
{
    settings.period_us = clamp(settings.period_us, FEED_PERIOD_MIN_US, FEED_PERIOD_MAX_US);
    settings.depth_max = clamp(settings.depth_max, FEED_DEPTH_MIN, FEED_DEPTH_MAX);
    return settings;
}

struct feed_settings profile_settings_of(const struct profile_options *options)
{
    struct feed_settings settings = options->settings;

    if (!settings.period_us)
        settings.period_us = FEED_PERIOD_DEFAULT_US;
    if (!settings.depth_max)
        settings.depth_max = FEED_DEPTH_DEFAULT;
    if (!*settings.wall_threads)
        strcpy(settings.wall_threads, "*");
    return profile_clamped(settings);
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

    return symbolizer_new(&profile->symbolizer, &symbolizer);
}

static int make_parts(struct profile *profile, const struct profile_options *options)
{
    struct feed_settings settings = profile_settings_of(options);
    int error;

    if (options->source_root && !(profile->source_root = strdup(options->source_root)))
        return -ISOSCOPE_NO_MEMORY;
    if ((error = stores_new(&profile->stores, options->store_bytes)) < 0 ||
        (error = event_store_new(&profile->events, options->store_bytes)) < 0 ||
        (error = streams_new(&profile->streams)) < 0 ||
        (error = stall_log_new(&profile->stalls, &(struct stall_log_options){ 0 })) < 0 ||
        (error = registry_new(&profile->registry)) < 0 ||
        (error = functions_new(&profile->functions)) < 0 ||
        (error = inline_chains_new(&profile->chains, INLINE_CHAINS_BYTES_DEFAULT)) < 0 ||
        (error = make_symbolizer(profile, options)) < 0 ||
        (error = processes_new(&profile->processes, &profile->stores, profile->events, &settings)) <
            0)
        return error;
    profile->known = (struct known_chains){ .registry = profile->registry,
                                            .functions = profile->functions,
                                            .chains = profile->chains,
                                            .nameless = options->no_symbols };
    return 0;
}

int profile_parts_new(struct profile **out, const struct profile_options *options)
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
    follow_tables_release(profile->follow);
    bell_free(profile->bell);
    if (profile->before_free)
        profile->before_free(profile);
    if (profile->collector)
        collector_stop(profile->collector);
    if (profile->rounds)
        rounds_stop(profile->rounds);
    if (profile->watcher)
        watcher_stop(profile->watcher);
    table_store_free(profile->tables);
    collector_free(profile->collector);
    symbolizer_free(profile->symbolizer);
    processes_free(profile->processes);
    watcher_free(profile->watcher);
    rounds_free(profile->rounds);
    runtime_finder_free(profile->finder);
    stores_free(&profile->stores);
    event_store_free(profile->events);
    streams_free(profile->streams);
    stall_log_free(profile->stalls);
    inline_chains_free(profile->chains);
    inline_chains_free(profile->known.saved);
    kept_facts_free(profile->kept);
    kept_loops_free(profile->kept_loops);
    session_contents_free(profile->contents);
    functions_free(profile->functions);
    registry_free(profile->registry);
    free(profile->source_root);
    free(profile);
}
