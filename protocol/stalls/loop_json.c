#include "stall_json.h"

#include "stall_words.h"
#include "../text/any_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static json_t *at_json(const struct loop_times *times, double fraction)
{
    struct stall_range us = stall_range_us(loop_times_at(times, fraction));

    return json_pack("[I, I]", (json_int_t)us.min, (json_int_t)us.max);
}

/* Up to the last that counts any. */
static json_t *buckets_json(const struct loop_times *times)
{
    json_t *buckets = json_array();
    int end = LOOP_BUCKETS;

    while (end > 0 && !times->buckets[end - 1])
        end--;
    for (int i = 0; i < end; i++)
        json_array_append_new(buckets, json_integer((json_int_t)times->buckets[i]));
    return buckets;
}

static json_t *times_json(const struct loop_times *times)
{
    struct stall_range max = stall_range_us(times->max_ns);

    return json_pack("{s:I, s:o, s:o, s:o, s:[I, I], s:I, s:o}", "count", (json_int_t)times->count,
                     "p50", at_json(times, 0.5), "p95", at_json(times, 0.95), "p99",
                     at_json(times, 0.99), "max", (json_int_t)max.min, (json_int_t)max.max, "sum",
                     (json_int_t)(times->sum_ns / 1000), "buckets", buckets_json(times));
}

json_t *loop_limits_json(const uint32_t limits_ms[STALL_LEVEL_COUNT])
{
    json_t *limits = json_object();

    for (int level = 0; level < STALL_LEVEL_COUNT; level++)
        json_object_set_new(limits, stall_level_words[level], json_integer(limits_ms[level]));
    return limits;
}

static json_t *levels_json(const struct loop_info *loop)
{
    json_t *levels = json_object();

    for (int level = 0; level < STALL_LEVEL_COUNT; level++)
        json_object_set_new(levels, stall_level_words[level],
                            json_integer((json_int_t)loop->levels[level]));
    return levels;
}

static json_t *causes_json(const struct loop_info *loop)
{
    json_t *causes = json_object();

    for (int cause = 0; cause < STALL_CAUSE_COUNT; cause++)
        if (loop->causes[cause])
            json_object_set_new(causes, stall_cause_words[cause],
                                json_integer((json_int_t)loop->causes[cause]));
    return causes;
}

static json_t *figures_json(const struct loop_info *loop)
{
    return json_pack("{s:I, s:o, s:o, s:I, s:o, s:o, s:I, s:o}", "dispatches",
                     (json_int_t)loop->dispatches, "dispatch", times_json(&loop->dispatch), "delay",
                     times_json(&loop->delay), "blockingMicros",
                     (json_int_t)(loop->blocking_ns / 1000), "levels", levels_json(loop), "causes",
                     causes_json(loop), "dismissed", (json_int_t)loop->dismissed, "limits",
                     loop_limits_json(loop->limits_ms));
}

json_t *loop_json(const struct loop_info *loop, int32_t pid)
{
    json_t *json = json_pack("{s:I, s:o, s:i, s:i, s:o, s:o, s:s, s:b, s:b, s:b}", "number",
                             (json_int_t)loop->number, "isolateId",
                             json_sprintf("isolates/%" PRIu64, loop->process_id), "pid", pid, "tid",
                             loop->tid, "thread", any_text(loop->thread_name), "name",
                             any_text(loop->name), "kind", loop_kind_words[loop->kind], "ended",
                             loop->ended, "watched", loop->watched, "busy", loop->busy);
    json_auto_t *figures = figures_json(loop);

    if (json && figures && json_object_update(json, figures) == 0)
        return json;
    json_decref(json);
    return NULL;
}

json_t *unwatched_json(const struct unwatched_thread *thread, int32_t pid)
{
    return json_pack("{s:o, s:i, s:i, s:o, s:o}", "isolateId",
                     json_sprintf("isolates/%" PRIu64, thread->process_id), "pid", pid, "tid",
                     thread->tid, "thread", any_text(thread->name), "systemCall",
                     any_text(thread->system_call));
}

json_t *cpu_high_json(const struct cpu_high *high, int32_t pid, const char *thread)
{
    return json_pack("{s:o, s:i, s:i, s:o, s:I, s:I, s:f}", "isolateId",
                     json_sprintf("isolates/%" PRIu64, high->process_id), "pid", pid, "tid",
                     high->tid, "thread", any_text(thread), "fromMicros", (json_int_t)high->from_us,
                     "toMicros", (json_int_t)high->to_us, "percent", high->permille / 10.0);
}

enum { THREADS_LOOKED_AT = 256 };

void thread_name_of(char out[THREAD_NAME_BYTES], struct profile *profile, uint64_t process_id,
                    int32_t tid)
{
    struct profile_thread threads[THREADS_LOOKED_AT];
    size_t count = tid ? profile_threads(profile, process_id, threads, THREADS_LOOKED_AT) : 0;

    out[0] = '\0';
    for (size_t i = 0; i < count && i < THREADS_LOOKED_AT; i++)
        if (threads[i].tid == tid)
            snprintf(out, THREAD_NAME_BYTES, "%s", threads[i].name);
}
