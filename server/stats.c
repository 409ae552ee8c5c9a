#include "stats.h"

#include "say.h"

#include "../sampler/profile/snapshot.h"

#include <inttypes.h>
#include <stdlib.h>

struct stats {
    size_t processes;
    uint64_t ticks, delivered, sampler_cpu_ns, table_bytes, evicted, corrupt, unstored, names_full,
        not_sampled_ns;
    uint64_t lost[FEED_LOSS_COUNT], ends[FEED_END_COUNT];
    bool timers[FEED_TIMER_COUNT], reasons[FEED_TIMER_REASON_COUNT];
};

static void add(struct stats *stats, const struct process_info *process)
{
    const struct feed_status_view *status = &process->status;

    stats->ticks += status->ticks;
    stats->delivered += status->delivered;
    stats->sampler_cpu_ns += status->sampler_cpu_ns;
    /* Of one process, not of all: they did not live at the same time. */
    if (status->table_bytes > stats->table_bytes)
        stats->table_bytes = status->table_bytes;
    stats->evicted += process->evicted;
    stats->corrupt += process->corrupt;
    stats->unstored += process->unstored;
    stats->not_sampled_ns += feed_not_sampled_ns(status);
    stats->names_full += status->names_full;
    for (int loss = 0; loss < FEED_LOSS_COUNT; loss++)
        stats->lost[loss] += status->lost[loss];
    for (int end = 0; end < FEED_END_COUNT; end++)
        stats->ends[end] += status->ends[end];
    stats->timers[status->timer] = true;
    stats->reasons[status->timer_reason] = true;
}

static void sum(struct stats *stats, struct profile *profile)
{
    size_t count = profile_processes(profile, NULL, 0);
    struct process_info *processes = calloc(count + 1, sizeof(*processes));

    stats->processes = processes ? profile_processes(profile, processes, count) : 0;
    for (size_t i = 0; i < stats->processes && i < count; i++)
        add(stats, &processes[i]);
    free(processes);
}

static void say_timers(const struct stats *stats)
{
#define REASON_TEXT(name, word, text) [FEED_TIMER_REASON_##name] = text,
    static const char *const texts[] = { FEED_TIMER_REASONS(REASON_TEXT) };
#undef REASON_TEXT

    if (stats->timers[FEED_TIMER_PERF_TRAP])
        say("  timer                 sigtrap");
    for (int reason = 1; reason < FEED_TIMER_REASON_COUNT; reason++)
        if (stats->reasons[reason])
            say("  timer                 cpu-timer alone: %s", texts[reason]);
}

static void say_losses(const struct stats *stats)
{
#define LOSS_TEXT(name, wire, text) [FEED_LOSS_##name] = text,
    static const char *const texts[] = { FEED_LOSSES(LOSS_TEXT) };
#undef LOSS_TEXT

    for (int loss = 0; loss < FEED_LOSS_COUNT; loss++)
        if (stats->lost[loss])
            say("  lost        %9" PRIu64 "  %s", stats->lost[loss], texts[loss]);
}

static void say_ends(const struct stats *stats)
{
#define END_TEXT(name, wire, text) [FEED_END_##name] = text,
    static const char *const texts[] = { FEED_ENDS(END_TEXT) };
#undef END_TEXT

    for (int end = 0; end < FEED_END_COUNT; end++)
        if (stats->ends[end])
            say("  stacks      %9" PRIu64 "  %s", stats->ends[end], texts[end]);
}

static void say_history(const struct profile_history *history)
{
    double minutes = (double)(history->last_us - history->first_us) / 60e6;
    double mib = (double)history->bytes / 1048576, mib_max = (double)history->bytes_max / 1048576;

    if (history->bytes && minutes > 0)
        say("  history     %9.1f  MiB of %.0f, which hold about %.3g min at this rate (%.3g min so "
            "far); see --history",
            mib, mib_max, minutes * mib_max / mib, minutes);
}

void stats_say(struct profile *profile)
{
    const struct profile_history history = profile_history(profile);
    struct stats stats = { 0 };

    sum(&stats, profile);
    say("%zu %s", stats.processes, stats.processes == 1 ? "process" : "processes");
    say_timers(&stats);
    say("  ticks       %9" PRIu64, stats.ticks);
    say("  delivered   %9" PRIu64 "  samples", stats.delivered);
    say_losses(&stats);
    say_ends(&stats);
    say_history(&history);
    if (stats.evicted)
        say("  evicted     %9" PRIu64 "  the store was full", stats.evicted);
    if (stats.corrupt)
        say("  corrupt     %9" PRIu64 "  records that could not be true", stats.corrupt);
    if (stats.unstored)
        say("  unstored    %9" PRIu64 "  samples without memory, or later than their thread's end",
            stats.unstored);
    if (stats.names_full)
        say("  unnamed     %9" PRIu64 "  tags and functions whose name found no room",
            stats.names_full);
    say("  not sampled %9.1f  ms of CPU time", (double)stats.not_sampled_ns / 1e6);
    say("  own thread  %9.1f  ms of CPU time", (double)stats.sampler_cpu_ns / 1e6);
    say("  tables      %9.1f  KiB of unwind data, in the largest process",
        (double)stats.table_bytes / 1024);
}
