#include "metrics.h"

#include "frame_sums.h"
#include "loop_sums.h"
#include "process_sums.h"
#include "../stalls/stall_words.h"
#include "../../sampler/include/isoscope/isoscope.h"

#include <stdlib.h>
#include <string.h>

struct metrics {
    struct process_sums processes;
    struct loop_sums loops;
    struct frame_sums frames;
};

struct metrics *metrics_new(void)
{
    return calloc(1, sizeof(struct metrics));
}

void metrics_free(struct metrics *metrics)
{
    if (!metrics)
        return;
    process_sums_free(&metrics->processes);
    loop_sums_free(&metrics->loops);
    frame_sums_free(&metrics->frames);
    free(metrics);
}

static const struct json_text no_labels;

static void put_service(struct json_text *out, const struct metrics_of_service *service)
{
    static const struct metric info = { "isoscope_build_info", "gauge", "isoscope's version." };
    static const struct metric cpu = { "isoscope_service_cpu_seconds_total", "counter",
                                       "CPU time that isoscope's service has used." };

    metrics_begin(out, &info);
    metrics_count_of(out, &info, &no_labels, "version", service->version, 1);
    if (!service->cpu_ns)
        return;
    metrics_begin(out, &cpu);
    metrics_seconds(out, &cpu, &no_labels, service->cpu_ns);
}

static void put_cpu(struct json_text *out, struct profile *profile)
{
    static const struct metric cpu = { "isoscope_cpu_seconds_total", "counter",
                                       "CPU time of all processes that were sampled: that samples "
                                       "stand for, and that is in no sample." };
    struct profile_cpu times = profile_cpu(profile);
    struct json_text yes = { 0 }, no = { 0 };

    metrics_label(&yes, "sampled", "true");
    metrics_label(&no, "sampled", "false");
    metrics_begin(out, &cpu);
    metrics_seconds(out, &cpu, &yes, times.sampled_ns);
    metrics_seconds(out, &cpu, &no, times.not_sampled_ns);
    out->failed |= yes.failed || no.failed;
    json_text_free(&yes);
    json_text_free(&no);
}

/* Of each name one line. */
static void put_names(struct json_text *out, const struct metric *metric,
                      const struct process_sums *sums,
                      uint64_t (*value)(const struct process_name *name))
{
    metrics_begin(out, metric);
    for (uint32_t i = 0; i <= PROCESS_NAMES_MAX; i++)
        if (sums->names[i].name[0])
            metrics_count_of(out, metric, &no_labels, "process", sums->names[i].name,
                             value(&sums->names[i]));
}

static uint64_t is_up(const struct process_name *name)
{
    return name->live > 0;
}

static uint64_t live_of(const struct process_name *name)
{
    return name->live;
}

static uint64_t samples_of(const struct process_name *name)
{
    return name->samples;
}

static void put_processes(struct json_text *out, const struct process_sums *sums)
{
    static const struct metric up = { "isoscope_process_up", "gauge",
                                      "1 while a process of that name lives." };
    static const struct metric live = { "isoscope_processes", "gauge",
                                        "Processes of that name that live." };
    static const struct metric samples = { "isoscope_samples_total", "counter",
                                           "Samples of processes of that name." };
    static const struct metric upkeep = { "isoscope_sampler_cpu_seconds_total", "counter",
                                          "CPU time that the sampler took in the programs." };

    put_names(out, &up, sums, is_up);
    put_names(out, &live, sums, live_of);
    put_names(out, &samples, sums, samples_of);
    metrics_begin(out, &upkeep);
    metrics_seconds(out, &upkeep, &no_labels, sums->sum.upkeep_ns);
}

static void put_losses(struct json_text *out, const struct process_sums *sums)
{
    static const struct metric lost = { "isoscope_samples_lost_total", "counter",
                                        "Ticks that came to no sample, by reason." };
    static const char *const reasons[] = {
#define LOSS_WORD(name, word, text) [FEED_LOSS_##name] = word,
        FEED_LOSSES(LOSS_WORD)
#undef LOSS_WORD
    };

    metrics_begin(out, &lost);
    for (int loss = 0; loss < FEED_LOSS_COUNT; loss++)
        metrics_count_of(out, &lost, &no_labels, "reason", reasons[loss], sums->sum.lost[loss]);
}

/* How many of a process' name. */
struct name_count {
    const char *name;
    uint64_t count;
};

static int put_unwatched(struct json_text *out, struct profile *profile,
                         const struct process_sums *sums)
{
    static const struct metric unwatched = { "isoscope_loops_unwatched", "gauge",
                                             "Threads that wait for descriptors by system calls of "
                                             "their own, so that nobody sees when they are late." };
    size_t capacity = profile_unwatched(profile, 0, NULL, 0);
    struct unwatched_thread *threads = calloc(capacity + 1, sizeof(*threads));
    struct name_count counts[PROCESS_NAMES_MAX + 1] = { 0 };
    size_t count = threads ? profile_unwatched(profile, 0, threads, capacity) : 0;

    metrics_begin(out, &unwatched);
    for (size_t i = 0; i < count && i < capacity; i++) {
        struct name_count *at = counts;

        const char *name = process_sums_name(sums, threads[i].process_id);
        while (at->name && strcmp(at->name, name) != 0)
            at++;
        at->name = name;
        at->count++;
    }
    for (size_t i = 0; i <= PROCESS_NAMES_MAX && counts[i].name; i++)
        metrics_count_of(out, &unwatched, &no_labels, "process", counts[i].name, counts[i].count);
    free(threads);
    return threads ? 0 : -ISOSCOPE_NO_MEMORY;
}

/* What became of the stalls of all loops. */
static void put_stall_counts(struct json_text *out, struct profile *profile)
{
    static const struct metric told = { "isoscope_stalls_told_total", "counter",
                                        "Stalls that events told of." };
    static const struct metric untold = { "isoscope_stalls_not_told_total", "counter",
                                          "Stalls that are listed only: equal ones, or too many in "
                                          "a day with one stack or of one loop." };
    static const struct metric lost = { "isoscope_stalls_lost_total", "counter",
                                        "Stalls that are listed no more, or found no memory." };
    struct stall_counts counts = profile_stall_counts(profile);

    metrics_begin(out, &told);
    metrics_count(out, &told, &no_labels, counts.told);
    metrics_begin(out, &untold);
    metrics_count_of(out, &untold, &no_labels, "reason", "equal", counts.annealed);
    metrics_count_of(out, &untold, &no_labels, "reason", "stack_limit", counts.over_stack);
    metrics_count_of(out, &untold, &no_labels, "reason", "loop_limit", counts.over_loop);
    metrics_begin(out, &lost);
    metrics_count_of(out, &lost, &no_labels, "reason", "evicted", counts.evicted);
    metrics_count_of(out, &lost, &no_labels, "reason", "no_memory", counts.lost);
}

/* One metric: of each group what put writes. */
static void put_groups(struct json_text *out, const struct metric *metric,
                       const struct loop_sums *sums,
                       void (*put)(struct json_text *out, const struct metric *metric,
                                   const struct loop_group *group))
{
    metrics_begin(out, metric);
    for (uint32_t i = 0; i < sums->group_count; i++)
        put(out, metric, &sums->groups[i]);
    if (sums->others)
        put(out, metric, &sums->groups[LOOP_GROUPS_MAX]);
}

static void put_causes(struct json_text *out, const struct metric *metric,
                       const struct loop_group *group)
{
    for (int cause = 0; cause < STALL_CAUSE_COUNT; cause++)
        metrics_count_of(out, metric, &group->labels, "cause", stall_cause_words[cause],
                         group->sum.causes[cause]);
}

static void put_levels(struct json_text *out, const struct metric *metric,
                       const struct loop_group *group)
{
    for (int level = 0; level < STALL_LEVEL_COUNT; level++)
        metrics_count_of(out, metric, &group->labels, "level", stall_level_words[level],
                         group->sum.levels[level]);
}

static void put_dismissed(struct json_text *out, const struct metric *metric,
                          const struct loop_group *group)
{
    metrics_count(out, metric, &group->labels, group->sum.dismissed);
}

static void put_blocking(struct json_text *out, const struct metric *metric,
                         const struct loop_group *group)
{
    metrics_seconds(out, metric, &group->labels, group->sum.blocking_ns);
}

static void put_dispatch(struct json_text *out, const struct metric *metric,
                         const struct loop_group *group)
{
    metrics_histogram(out, metric, &group->labels, &group->sum.dispatch);
}

static void put_delay(struct json_text *out, const struct metric *metric,
                      const struct loop_group *group)
{
    metrics_histogram(out, metric, &group->labels, &group->sum.delay);
}

static void put_loops(struct json_text *out, const struct loop_sums *sums)
{
    static const struct metric stalls = { "isoscope_stalls_total", "counter",
                                          "Dispatches over the loop's stall limit, by cause." };
    static const struct metric late = {
        "isoscope_loop_late_dispatches_total", "counter",
        "Dispatches that reached a limit (jank, stall, hang, dead) and no higher one."
    };
    static const struct metric dismissed = {
        "isoscope_stalls_dismissed_total", "counter",
        "Late dispatches that were no stalls: suspended, stopped, or debugged."
    };
    static const struct metric blocking = {
        "isoscope_loop_blocking_seconds_total", "counter",
        "What dispatches over the jank limit took more than it."
    };
    static const struct metric dispatch = { "isoscope_loop_dispatch_seconds", "histogram",
                                            "What a dispatch took. Short ones, between two looks "
                                            "of the watcher, are counted as their mean." };
    static const struct metric delay = { "isoscope_loop_delay_seconds", "histogram",
                                         "From when a loop could run to when it ran." };

    put_groups(out, &stalls, sums, put_causes);
    put_groups(out, &late, sums, put_levels);
    put_groups(out, &dismissed, sums, put_dismissed);
    put_groups(out, &blocking, sums, put_blocking);
    put_groups(out, &dispatch, sums, put_dispatch);
    put_groups(out, &delay, sums, put_delay);
}

static void put_frame_levels(struct json_text *out, const struct metric *metric,
                             const struct frame_group *group)
{
    static const char *const words[FRAME_LEVELS] = { "best", "normal", "middle", "high", "frozen" };

    for (int level = 0; level < FRAME_LEVELS; level++)
        metrics_count_of(out, metric, &group->labels, "level", words[level], group->levels[level]);
}

static void put_dropped(struct json_text *out, const struct metric *metric,
                        const struct frame_group *group)
{
    metrics_count(out, metric, &group->labels, group->dropped);
}

static void put_per_second(struct json_text *out, const struct metric *metric,
                           const struct frame_group *group)
{
    metrics_count(out, metric, &group->labels, group->per_second);
}

static void put_frame_times(struct json_text *out, const struct metric *metric,
                            const struct frame_group *group)
{
    metrics_histogram(out, metric, &group->labels, &group->times);
}

static void put_frame_groups(struct json_text *out, const struct metric *metric,
                             const struct frame_sums *sums,
                             void (*put)(struct json_text *out, const struct metric *metric,
                                         const struct frame_group *group))
{
    metrics_begin(out, metric);
    for (uint32_t i = 0; i < sums->group_count; i++)
        put(out, metric, &sums->groups[i]);
    if (sums->others)
        put(out, metric, &sums->groups[FRAME_GROUPS_MAX]);
}

static void put_frames(struct json_text *out, const struct frame_sums *sums)
{
    static const struct metric frames = {
        "isoscope_frames_total", "counter",
        "Frames, by how many were dropped behind them at 60 a second: best (none to 2), normal "
        "(from 3), middle (9), high (24), frozen (42)."
    };
    static const struct metric dropped = { "isoscope_frames_dropped_total", "counter",
                                           "Frames that were dropped, at 60 a second." };
    static const struct metric rate = { "isoscope_frames_per_second", "gauge",
                                        "Frames that ended in the last second." };
    static const struct metric times = { "isoscope_frame_seconds", "histogram",
                                         "What a frame took." };

    put_frame_groups(out, &frames, sums, put_frame_levels);
    put_frame_groups(out, &dropped, sums, put_dropped);
    put_frame_groups(out, &rate, sums, put_per_second);
    put_frame_groups(out, &times, sums, put_frame_times);
}

int metrics_put(struct metrics *metrics, struct json_text *out, struct profile *profile,
                const struct metrics_of_service *service)
{
    if (process_sums_look(&metrics->processes, profile) < 0 ||
        loop_sums_look(&metrics->loops, profile, &metrics->processes) < 0 ||
        frame_sums_look(&metrics->frames, profile, &metrics->processes, service->now_us) < 0)
        return -ISOSCOPE_NO_MEMORY;
    put_service(out, service);
    put_cpu(out, profile);
    put_processes(out, &metrics->processes);
    put_losses(out, &metrics->processes);
    if (put_unwatched(out, profile, &metrics->processes) < 0)
        return -ISOSCOPE_NO_MEMORY;
    put_loops(out, &metrics->loops);
    put_stall_counts(out, profile);
    put_frames(out, &metrics->frames);
    return out->failed ? -ISOSCOPE_NO_MEMORY : 0;
}
