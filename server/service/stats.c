#include "stats.h"

#include "../console/log_line.h"

#include "../../sampler/profile/snapshot.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct stats {
    uint64_t ticks, delivered, upkeep_ns, table_bytes, evicted, corrupt, unstored, names_full,
        codes_full, loops_lost, allocations, allocations_lost, allocations_loose, lock_waits,
        lock_ns, waits_sampled, waits_lost, faults_sampled, faults_lost, sanitized,
        faults_refused; /* processes */
    uint64_t lost[FEED_LOSS_COUNT], ends[FEED_END_COUNT];
    uint32_t runtimes;
    char unknown_runtime[128]; /* of the last process that has one */
    bool allocations_wanted;
    bool timers[FEED_TIMER_COUNT], reasons[FEED_TIMER_REASON_COUNT];
};

static void add_process(struct stats *stats, const struct process_info *process)
{
    const struct feed_status_view *status = &process->status;

    stats->ticks += status->ticks;
    stats->delivered += status->delivered;
    stats->upkeep_ns += status->upkeep_ns;
    /* Of one process, not of all: they did not live at the same time. */
    if (status->table_bytes > stats->table_bytes)
        stats->table_bytes = status->table_bytes;
    stats->evicted += process->evicted;
    stats->corrupt += process->corrupt;
    stats->unstored += process->unstored;
    stats->names_full += status->names_full;
    stats->codes_full += status->codes_full;
    stats->allocations += status->allocations;
    stats->allocations_lost += status->allocations_lost;
    stats->allocations_loose += status->allocations_loose;
    stats->lock_waits += status->lock_waits;
    stats->lock_ns += status->lock_ns;
    stats->waits_sampled += status->waits_sampled;
    stats->waits_lost += status->waits_lost;
    stats->faults_sampled += status->faults_sampled;
    stats->faults_lost += status->faults_lost;
    stats->faults_refused += status->faults_seen == FEED_FAULTS_REFUSED;
    stats->sanitized += status->allocations_seen == FEED_ALLOCATIONS_SANITIZED;
    stats->loops_lost += status->loops_lost;
    stats->runtimes |= process->runtimes;
    if (*process->unknown_runtime)
        memcpy(stats->unknown_runtime, process->unknown_runtime, sizeof(stats->unknown_runtime));
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

    size_t found = processes ? profile_processes(profile, processes, count) : 0;
    for (size_t i = 0; i < found && i < count; i++)
        add_process(stats, &processes[i]);
    free(processes);
}

static void say_timers(const struct stats *stats)
{
#define REASON_TEXT(name, word, text) [FEED_TIMER_REASON_##name] = text,
    static const char *const texts[] = { FEED_TIMER_REASONS(REASON_TEXT) };
#undef REASON_TEXT

    if (stats->timers[FEED_TIMER_PERF_TRAP])
        log_line("  timer                 sigtrap");
    for (int reason = 1; reason < FEED_TIMER_REASON_COUNT; reason++)
        if (stats->reasons[reason])
            log_line("  timer                 cpu-timer alone: %s", texts[reason]);
}

static void say_losses(const struct stats *stats)
{
#define LOSS_TEXT(name, wire, text) [FEED_LOSS_##name] = text,
    static const char *const texts[] = { FEED_LOSSES(LOSS_TEXT) };
#undef LOSS_TEXT

    for (int loss = 0; loss < FEED_LOSS_COUNT; loss++)
        if (stats->lost[loss])
            log_line("  lost        %9" PRIu64 "  %s", stats->lost[loss], texts[loss]);
}

/* lost: sampled, and in none of the rings; why: what may have been the matter. */
static void say_sampled(const char *what, uint64_t sampled, uint64_t lost, const char *why)
{
    if (sampled)
        log_line("  %-11s %9" PRIu64 "  sampled", what, sampled);
    if (lost)
        log_line("  %-11s %9" PRIu64 "  sampled, and lost: %s", what, lost, why);
}

#define NO_STACK "their stacks could not be taken, or the service read too slowly"

static void say_allocations(const struct stats *stats)
{
    say_sampled("allocations", stats->allocations, stats->allocations_lost, NO_STACK);
    if (stats->allocations_loose)
        log_line("  allocations %9" PRIu64 "  sampled, and not followed until they are freed: no "
                 "room for their addresses",
                 stats->allocations_loose);
    if (stats->allocations_wanted && stats->sanitized)
        log_line("  allocations           of %" PRIu64 " processes are left alone: they have a "
                 "sanitizer",
                 stats->sanitized);
}

static void say_waits(const struct stats *stats)
{
    if (stats->lock_waits)
        log_line("  locks       %9" PRIu64 "  waits for what another thread had, %.1f ms together",
                 stats->lock_waits, (double)stats->lock_ns / 1e6);
    say_sampled("waits", stats->waits_sampled, stats->waits_lost,
                NO_STACK " (use a larger --lock=MICROSECONDS)");
}

static void say_faults(const struct stats *stats)
{
    say_sampled(
        "page faults", stats->faults_sampled, stats->faults_lost,
        "in code that blocks signals, mostly the sampler's, or the service read too slowly");
    if (stats->faults_refused)
        log_line("  page faults           of %" PRIu64
                 " processes are not sampled: the kernel gives "
                 "them no perf event",
                 stats->faults_refused);
}

static void say_ends(const struct stats *stats)
{
#define END_TEXT(name, wire, text) [FEED_END_##name] = text,
    static const char *const texts[] = { FEED_ENDS(END_TEXT) };
#undef END_TEXT

    for (int end = 0; end < FEED_END_COUNT; end++)
        if (stats->ends[end])
            log_line("  stacks      %9" PRIu64 "  %s", stats->ends[end], texts[end]);
}

/* Where many stacks end in the code of a runtime: what helps. */
static void say_runtimes(const struct stats *stats)
{
#define ADVICE(name, wire, beginning, advice) [RUNTIME_##name] = advice,
    static const char *const advice[] = { RUNTIMES(ADVICE) };
#undef ADVICE
    uint64_t cut = stats->ends[FEED_END_NO_MODULE] + stats->ends[FEED_END_NO_ROW];

    for (int runtime = 0; cut > stats->delivered / 100 && runtime < RUNTIME_COUNT; runtime++)
        if (stats->runtimes >> runtime & 1)
            log_line("  stacks                end in code generated at run time. Remedy for %s",
                     advice[runtime]);
}

static void say_history(const struct profile_history *history)
{
    double minutes = (double)(history->last_us - history->first_us) / 60e6;
    double mib = (double)history->bytes / 1048576, mib_max = (double)history->bytes_max / 1048576;

    if (history->bytes && minutes > 0)
        log_line("  history     %9.1f  MiB of %.0f, enough for about %.3g min at this rate (%.3g "
                 "min so far); see --history",
                 mib, mib_max, minutes * mib_max / mib, minutes);
}

static void say_cpu(const struct profile_cpu *cpu)
{
    const uint64_t known_ns = cpu->sampled_ns + cpu->not_sampled_ns;

    log_line("  sampled     %9.1f  ms of CPU time", (double)cpu->sampled_ns / 1e6);
    log_line("  not sampled %9.1f  ms of CPU time", (double)cpu->not_sampled_ns / 1e6);
    if (cpu->tree_ns > known_ns)
        log_line("  elsewhere   %9.1f  ms of CPU time, of processes that ended before their first "
                 "sample or have no sampler",
                 (double)(cpu->tree_ns - known_ns) / 1e6);
}

void stats_say(struct profile *profile)
{
    const struct profile_cpu cpu = profile_cpu(profile);
    const struct profile_history history = profile_history(profile);
    struct stats stats = { 0 };

    sum(&stats, profile);
    stats.allocations_wanted = profile_settings(profile).allocation_bytes != 0;
    log_line("%" PRIu64 " %s", cpu.processes, cpu.processes == 1 ? "process" : "processes");
    say_timers(&stats);
    log_line("  ticks       %9" PRIu64, stats.ticks);
    log_line("  delivered   %9" PRIu64 "  samples", stats.delivered);
    say_losses(&stats);
    say_allocations(&stats);
    say_waits(&stats);
    say_faults(&stats);
    say_ends(&stats);
    say_runtimes(&stats);
    if (*stats.unknown_runtime)
        log_line("  runtime               %s", stats.unknown_runtime);
    say_history(&history);
    if (stats.evicted)
        log_line("  evicted     %9" PRIu64 "  old samples dropped to make room", stats.evicted);
    if (stats.corrupt)
        log_line("  corrupt     %9" PRIu64 "  invalid records", stats.corrupt);
    if (stats.unstored)
        log_line("  unstored    %9" PRIu64 "  samples without memory, or after their thread's end",
                 stats.unstored);
    if (stats.names_full)
        log_line("  unnamed     %9" PRIu64 "  tags and functions without room for their names",
                 stats.names_full);
    if (stats.codes_full)
        log_line("  unnamed     %9" PRIu64 "  functions of runtimes without room for their names",
                 stats.codes_full);
    if (stats.loops_lost)
        log_line("  unwatched   %9" PRIu64 "  loops: there are too many", stats.loops_lost);
    say_cpu(&cpu);
    log_line("  upkeep      %9.1f  ms of CPU time, in the programs", (double)stats.upkeep_ns / 1e6);
    log_line("  tables      %9.1f  KiB of unwind data, in the largest process",
             (double)stats.table_bytes / 1024);
}
