#include "counters.h"

#include <stdint.h>

static const char *const loss_names[] = {
#define LOSS_NAME(name, wire, text) [FEED_LOSS_##name] = "lost_" wire,
    FEED_LOSSES(LOSS_NAME)
#undef LOSS_NAME
};

static const char *const end_names[] = {
#define END_NAME(name, wire, text) [FEED_END_##name] = "end_" wire,
    FEED_ENDS(END_NAME)
#undef END_NAME
};

static const char *const runtime_names[] = {
#define RUNTIME_NAME(name, wire, beginning, advice) [RUNTIME_##name] = "runtime_" wire,
    RUNTIMES(RUNTIME_NAME)
#undef RUNTIME_NAME
};

struct sums {
    uint64_t samples, evicted, corrupt, unstored;
    uint64_t not_sampled_ns;
    uint32_t runtimes[RUNTIME_COUNT]; /* processes that have it */
    uint32_t unknown_runtimes;
    uint32_t true_period_us; /* the longest */
    struct feed_status_view status;
};

static void add_process(struct sums *sums, const struct process_info *process)
{
    const struct feed_status_view *status = &process->status;

    sums->samples += process->samples;
    sums->evicted += process->evicted;
    sums->corrupt += process->corrupt;
    sums->unstored += process->unstored;
    sums->status.allocations += status->allocations;
    sums->status.allocations_lost += status->allocations_lost;
    sums->status.allocations_loose += status->allocations_loose;
    sums->status.lock_waits += status->lock_waits;
    sums->status.lock_ns += status->lock_ns;
    sums->status.waits_sampled += status->waits_sampled;
    sums->status.waits_lost += status->waits_lost;
    sums->status.faults_sampled += status->faults_sampled;
    sums->status.faults_lost += status->faults_lost;
    sums->status.names_full += status->names_full;
    sums->status.codes_full += status->codes_full;
    sums->status.loops_lost += status->loops_lost;
    sums->status.ticks += status->ticks;
    sums->status.delivered += status->delivered;
    sums->status.upkeep_ns += status->upkeep_ns;
    sums->not_sampled_ns += feed_not_sampled_ns(status);
    if (sums->true_period_us < status->true_period_us)
        sums->true_period_us = status->true_period_us;
    for (size_t i = 0; i < FEED_LOSS_COUNT; i++)
        sums->status.lost[i] += status->lost[i];
    for (size_t i = 0; i < FEED_END_COUNT; i++)
        sums->status.ends[i] += status->ends[i];
    for (size_t i = 0; i < RUNTIME_COUNT; i++)
        sums->runtimes[i] += process->runtimes >> i & 1;
    sums->unknown_runtimes += *process->unknown_runtime != 0;
}

static void put_counter(json_t *object, const char *name, uint64_t value)
{
    json_object_set_new(object, name, json_integer((json_int_t)value));
}

json_t *counters_json(const struct isolates *isolates, const struct process_info *process)
{
    json_t *object = json_object();
    struct sums sums = { 0 };

    if (process)
        add_process(&sums, process);
    else
        while ((process = isolates_next(isolates, process)))
            add_process(&sums, process);
    put_counter(object, "ticks", sums.status.ticks);
    put_counter(object, "delivered", sums.status.delivered);
    put_counter(object, "stored", sums.samples);
    put_counter(object, "evicted", sums.evicted);
    put_counter(object, "corrupt", sums.corrupt);
    put_counter(object, "unstored", sums.unstored);
    put_counter(object, "names_full", sums.status.names_full);
    put_counter(object, "loops_lost", sums.status.loops_lost);
    put_counter(object, "true_period_us", sums.true_period_us);
    put_counter(object, "upkeep_ns", sums.status.upkeep_ns);
    put_counter(object, "not_sampled_ns", sums.not_sampled_ns);
    for (size_t i = 0; i < FEED_LOSS_COUNT; i++)
        put_counter(object, loss_names[i], sums.status.lost[i]);
    for (size_t i = 0; i < FEED_END_COUNT; i++)
        put_counter(object, end_names[i], sums.status.ends[i]);
    if (sums.status.allocations || sums.status.allocations_lost) {
        put_counter(object, "alloc_sampled", sums.status.allocations);
        put_counter(object, "alloc_lost", sums.status.allocations_lost);
        put_counter(object, "alloc_loose", sums.status.allocations_loose);
    }
    if (sums.status.lock_waits || sums.status.waits_sampled || sums.status.waits_lost) {
        put_counter(object, "lock_waits", sums.status.lock_waits);
        put_counter(object, "lock_ns", sums.status.lock_ns);
        put_counter(object, "wait_sampled", sums.status.waits_sampled);
        put_counter(object, "wait_lost", sums.status.waits_lost);
    }
    if (sums.status.faults_sampled || sums.status.faults_lost) {
        put_counter(object, "fault_sampled", sums.status.faults_sampled);
        put_counter(object, "fault_lost", sums.status.faults_lost);
    }
    if (sums.status.codes_full)
        put_counter(object, "codes_full", sums.status.codes_full);
    for (size_t i = 0; i < RUNTIME_COUNT; i++)
        if (sums.runtimes[i])
            put_counter(object, runtime_names[i], sums.runtimes[i]);
    if (sums.unknown_runtimes)
        put_counter(object, "runtime_unknown", sums.unknown_runtimes);
    return object;
}

const char *counters_timer(const struct process_info *process)
{
#define TIMER_NAME(name, word) [FEED_TIMER_##name] = word,
    static const char *const names[] = { FEED_TIMERS(TIMER_NAME) };
#undef TIMER_NAME

    return names[process ? process->status.timer : FEED_TIMER_NONE];
}

const char *counters_timer_reason(const struct process_info *process)
{
#define REASON_WORD(name, word, text) [FEED_TIMER_REASON_##name] = word,
    static const char *const words[] = { FEED_TIMER_REASONS(REASON_WORD) };
#undef REASON_WORD
    enum feed_timer_reason reason = process->status.timer_reason;

    return reason == FEED_TIMER_REASON_NONE ? NULL : words[reason];
}
