#include "loop_entry.h"

#include <stdio.h>
#include <string.h>

/* Numbers go by their words: another version may count them otherwise. */
#define WORD(name, word, ...) word,
static const char *const level_words[] = { STALL_LEVELS(WORD) };
static const char *const cause_words[] = { STALL_CAUSES(WORD) };
static const char *const kind_words[] = { FEED_LOOP_KINDS(WORD) };
static const char *const watch_words[] = { FEED_WATCHES(WORD) };
#undef WORD

/* Those that are not 0. */
static json_t *write_counts(const uint64_t *counts, const char *const *words, size_t count)
{
    json_t *object = json_object();

    for (size_t i = 0; i < count; i++)
        if (counts[i])
            json_object_set_new(object, words[i], entry_uint_of(counts[i]));
    return object;
}

static json_t *write_limits(const uint32_t limits_ms[STALL_LEVEL_COUNT])
{
    json_t *list = json_array();

    for (int level = 0; level < STALL_LEVEL_COUNT; level++)
        json_array_append_new(list, json_integer(limits_ms[level]));
    return list;
}

/* Up to the last bucket that has something. */
static json_t *write_times(const struct loop_times *times)
{
    json_t *buckets = json_array();
    int end = LOOP_BUCKETS;

    while (end > 0 && !times->buckets[end - 1])
        end--;
    for (int i = 0; i < end; i++)
        json_array_append_new(buckets, entry_uint_of(times->buckets[i]));
    return json_pack("{s:I, s:I, s:[I, I], s:o}", "count", (json_int_t)times->count, "sumNs",
                     (json_int_t)times->sum_ns, "maxNs", (json_int_t)times->max_ns.min,
                     (json_int_t)times->max_ns.max, "buckets", buckets);
}

json_t *loop_entry_write(const struct loop_info *loop)
{
    return json_pack(
        "{s:I, s:I, s:i, s:o, s:o, s:s, s:b, s:b, s:b, s:I, s:o, s:o, s:I, s:o, s:o, s:I, s:o}",
        "number", (json_int_t)loop->number, "process", (json_int_t)loop->process_id, "tid",
        (int)loop->tid, "name", entry_text_of(loop->name ? loop->name : ""), "thread",
        entry_text_of(loop->thread_name ? loop->thread_name : ""), "kind", kind_words[loop->kind],
        "ended", (int)loop->ended, "watched", (int)loop->watched, "busy", (int)loop->busy,
        "dispatches", (json_int_t)loop->dispatches, "dispatch", write_times(&loop->dispatch),
        "delay", write_times(&loop->delay), "blockingNs", (json_int_t)loop->blocking_ns, "levels",
        write_counts(loop->levels, level_words, STALL_LEVEL_COUNT), "causes",
        write_counts(loop->causes, cause_words, STALL_CAUSE_COUNT), "dismissed",
        (json_int_t)loop->dismissed, "limitsMs", write_limits(loop->limits_ms));
}

json_t *loop_settings_write(const struct stall_settings *settings)
{
    return json_pack("{s:s, s:o, s:o}", "watch", watch_words[settings->watch], "names",
                     entry_text_of(settings->names), "limitsMs", write_limits(settings->limits_ms));
}

json_t *unwatched_entry_write(const struct unwatched_thread *thread)
{
    return json_pack("{s:I, s:i, s:o, s:o}", "process", (json_int_t)thread->process_id, "tid",
                     (int)thread->tid, "name", entry_text_of(thread->name), "systemCall",
                     entry_text_of(thread->system_call));
}

json_t *cpu_high_entry_write(const struct cpu_high *high)
{
    return json_pack("{s:I, s:I, s:i, s:I, s:I, s:I}", "number", (json_int_t)high->number,
                     "process", (json_int_t)high->process_id, "tid", (int)high->tid, "fromUs",
                     (json_int_t)high->from_us, "toUs", (json_int_t)high->to_us, "permille",
                     (json_int_t)high->permille);
}

/* A word that is not known is the first. */
static uint32_t word_number(const char *word, const char *const *words, uint32_t count)
{
    uint32_t number = 0;

    while (word && number < count && strcmp(word, words[number]) != 0)
        number++;
    return word && number < count ? number : 0;
}

static void copy_text(struct entry *entry, const char *name, char *out, size_t size)
{
    const char *text = entry_text(entry, name);

    snprintf(out, size, "%s", text ? text : "");
}

/* Words that are not known are left out. */
static void read_counts(struct entry *around, const char *name, uint64_t *counts,
                        const char *const *words, size_t count)
{
    struct entry object = *around;

    object.object = entry_object(around, name);
    if (!object.object)
        return;
    for (size_t i = 0; i < count; i++)
        counts[i] = (uint64_t)entry_int(&object, words[i], 0, INT64_MAX);
    around->bad |= object.bad;
}

static void read_limits(struct entry *entry, uint32_t limits_ms[STALL_LEVEL_COUNT])
{
    const json_t *list = entry_list(entry, "limitsMs");

    for (int level = 0; list && level < STALL_LEVEL_COUNT; level++)
        limits_ms[level] =
            (uint32_t)entry_int_at(entry, "limitsMs", list, (size_t)level, 0, UINT32_MAX);
}

static void read_times(struct entry *around, const char *name, struct loop_times *out)
{
    struct entry times = *around;
    const json_t *buckets, *most;

    times.object = entry_object(around, name);
    if (!times.object)
        return;
    out->count = (uint64_t)entry_int(&times, "count", 0, INT64_MAX);
    out->sum_ns = (uint64_t)entry_int(&times, "sumNs", 0, INT64_MAX);
    most = entry_list(&times, "maxNs");
    if (most) {
        out->max_ns.min = entry_int_at(&times, "maxNs", most, 0, 0, INT64_MAX);
        out->max_ns.max = entry_int_at(&times, "maxNs", most, 1, out->max_ns.min, INT64_MAX);
    }
    buckets = entry_list(&times, "buckets");
    if (json_array_size(buckets) > LOOP_BUCKETS)
        entry_fail(&times, "'buckets' are more than %d", LOOP_BUCKETS);
    for (size_t i = 0; i < json_array_size(buckets) && i < LOOP_BUCKETS; i++)
        out->buckets[i] = (uint64_t)entry_int_at(&times, "buckets", buckets, i, 0, INT64_MAX);
    around->bad |= times.bad;
}

void loop_entry_read(struct entry *entry, struct loop_info *out)
{
    *out = (struct loop_info){
        .number = (uint32_t)entry_int(entry, "number", 0, INT32_MAX),
        .process_id = (uint64_t)entry_int(entry, "process", 0, INT64_MAX / 2),
        .tid = (int32_t)entry_int(entry, "tid", 0, INT32_MAX),
        .name = entry_text(entry, "name"),
        .thread_name = entry_text(entry, "thread"),
        .kind = word_number(entry_text(entry, "kind"), kind_words, FEED_LOOP_KIND_COUNT),
        .ended = entry_flag(entry, "ended"),
        .watched = entry_flag(entry, "watched"),
        .busy = entry_flag(entry, "busy"),
        .dispatches = (uint64_t)entry_int(entry, "dispatches", 0, INT64_MAX),
        .blocking_ns = (uint64_t)entry_int(entry, "blockingNs", 0, INT64_MAX),
        .dismissed = (uint64_t)entry_int(entry, "dismissed", 0, INT64_MAX),
    };
    read_times(entry, "dispatch", &out->dispatch);
    read_times(entry, "delay", &out->delay);
    read_counts(entry, "levels", out->levels, level_words, STALL_LEVEL_COUNT);
    read_counts(entry, "causes", out->causes, cause_words, STALL_CAUSE_COUNT);
    read_limits(entry, out->limits_ms);
    if (!out->number)
        entry_fail(entry, "'number' is missing");
}

void loop_settings_read(struct entry *entry, struct stall_settings *out)
{
    *out = (struct stall_settings){
        .watch = word_number(entry_text(entry, "watch"), watch_words, FEED_WATCH_COUNT),
    };
    copy_text(entry, "names", out->names, sizeof(out->names));
    read_limits(entry, out->limits_ms);
}

void unwatched_entry_read(struct entry *entry, struct unwatched_thread *out)
{
    *out = (struct unwatched_thread){
        .process_id = (uint64_t)entry_int(entry, "process", 0, INT64_MAX / 2),
        .tid = (int32_t)entry_int(entry, "tid", 0, INT32_MAX),
    };
    copy_text(entry, "name", out->name, sizeof(out->name));
    copy_text(entry, "systemCall", out->system_call, sizeof(out->system_call));
}

void cpu_high_entry_read(struct entry *entry, struct cpu_high *out)
{
    *out = (struct cpu_high){
        .process_id = (uint64_t)entry_int(entry, "process", 0, INT64_MAX / 2),
        .tid = (int32_t)entry_int(entry, "tid", 0, INT32_MAX),
        .from_us = entry_int(entry, "fromUs", 0, INT64_MAX / 4),
        .permille = (uint32_t)entry_int(entry, "permille", 0, UINT32_MAX),
    };
    out->to_us = entry_int(entry, "toUs", out->from_us, INT64_MAX / 4);
}
