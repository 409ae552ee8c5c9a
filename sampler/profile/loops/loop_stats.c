#include "loop_stats.h"

/* Shorts are entered together: what looks met of them in a second is enough for a mean. */
static const int64_t shorts_for_ns = 1000000000;

static int64_t middle(struct stall_range range)
{
    return range.min + (range.max - range.min) / 2;
}

static uint32_t bucket_of(int64_t ns)
{
    uint64_t us = ns > 0 ? (uint64_t)ns / 1000 : 0;
    uint32_t bucket = us ? 63 - (uint32_t)__builtin_clzll(us) : 0;

    return bucket < LOOP_BUCKETS ? bucket : LOOP_BUCKETS - 1;
}

void loop_times_add(struct loop_times *times, struct stall_range took_ns)
{
    times->count++;
    times->buckets[bucket_of(middle(took_ns))]++;
    times->sum_ns += (uint64_t)middle(took_ns);
    if (middle(took_ns) > middle(times->max_ns))
        times->max_ns = took_ns;
}

void loop_times_add_mean(struct loop_times *times, uint64_t count, uint64_t sum_ns)
{
    int64_t mean_ns = count ? (int64_t)(sum_ns / count) : 0;

    if (!count)
        return;
    times->count += count;
    times->buckets[bucket_of(mean_ns)] += count;
    times->sum_ns += sum_ns;
    if (mean_ns > middle(times->max_ns))
        times->max_ns = (struct stall_range){ mean_ns, mean_ns };
}

/* The bounds of the bucket, and never beyond the longest of all. */
static struct stall_range bounds_of(const struct loop_times *times, uint32_t bucket)
{
    struct stall_range bounds = { bucket ? (INT64_C(1000) << bucket) : 0, INT64_C(2000) << bucket };

    if (bucket == LOOP_BUCKETS - 1 || bounds.max > times->max_ns.max)
        bounds.max = times->max_ns.max;
    if (bounds.min > bounds.max)
        bounds.min = bounds.max;
    return bounds;
}

struct stall_range loop_times_at(const struct loop_times *times, double fraction)
{
    double wanted = fraction * (double)times->count;
    uint64_t sum = 0;
    uint32_t last = 0;

    if (!times->count)
        return (struct stall_range){ 0, 0 };
    for (uint32_t bucket = 0; bucket < LOOP_BUCKETS; bucket++) {
        sum += times->buckets[bucket];
        last = times->buckets[bucket] ? bucket : last;
        if (times->buckets[bucket] && (double)sum >= wanted)
            return bounds_of(times, bucket);
    }
    return bounds_of(times, last);
}

/* Looks that met none of them do not say that they took no time: these wait for one that does. */
void loop_stats_shorts(struct loop_stats *stats, const struct loop_shorts *shorts, int64_t now_ns)
{
    stats->dispatches += shorts->dispatches;
    if (!stats->shorts)
        stats->shorts_since_ns = now_ns;
    stats->shorts += shorts->shorts;
    stats->shorts_ns += shorts->shorts_ns;
    if (stats->shorts_ns <= 0 || now_ns - stats->shorts_since_ns < shorts_for_ns)
        return;
    loop_times_add_mean(&stats->dispatch, stats->shorts, (uint64_t)stats->shorts_ns);
    stats->shorts = 0;
    stats->shorts_ns = 0;
}

void loop_stats_ended(struct loop_stats *stats, struct stall_range took_ns, enum stall_level level,
                      int64_t jank_ns)
{
    if (level == STALL_LEVEL_COUNT)
        return;
    stats->levels[level]++;
    if (middle(took_ns) > jank_ns)
        stats->blocking_ns += (uint64_t)(middle(took_ns) - jank_ns);
}

void loop_stats_tell(const struct loop_stats *stats, struct loop_info *out)
{
    out->dispatches = stats->dispatches;
    out->dispatch = stats->dispatch;
    loop_times_add_mean(&out->dispatch, stats->shorts, (uint64_t)stats->shorts_ns);
    out->delay = stats->delay;
    out->blocking_ns = stats->blocking_ns;
    for (int level = 0; level < STALL_LEVEL_COUNT; level++)
        out->levels[level] = stats->levels[level];
    for (int cause = 0; cause < STALL_CAUSE_COUNT; cause++)
        out->causes[cause] = stats->causes[cause];
    out->dismissed = stats->dismissed;
}
