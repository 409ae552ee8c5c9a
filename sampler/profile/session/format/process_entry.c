#include "process_entry.h"

#include "../../runtimes.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Numbers go by their words: another version may count them otherwise. */
#define WORD(name, word, ...) word,
static const char *const loss_words[] = { FEED_LOSSES(WORD) };
static const char *const event_loss_words[] = { FEED_EVENT_LOSSES(WORD) };
static const char *const end_words[] = { FEED_ENDS(WORD) };
static const char *const timer_words[] = { FEED_TIMERS(WORD) };
static const char *const reason_words[] = { FEED_TIMER_REASONS(WORD) };
static const char *const runtime_words[] = { RUNTIMES(WORD) };
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

static json_t *write_runtimes(uint32_t runtimes)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < RUNTIME_COUNT; i++)
        if (runtimes >> i & 1)
            json_array_append_new(list, json_string(runtime_words[i]));
    return list;
}

static json_t *write_modules(const struct module_set *met)
{
    json_t *list = json_array();

    for (uint32_t number = 1; number < met->count * 64; number++)
        if (module_set_has(met, number))
            json_array_append_new(list, json_integer(number));
    return list;
}

/* Where it lived; what is "" is left out. */
static const struct {
    const char *name;
    size_t offset, bytes;
} place_texts[] = {
#define TEXT(name, field)                                                                          \
    {                                                                                              \
        name, offsetof(struct process_place, field), sizeof(((struct process_place *)NULL)->field) \
    }
    TEXT("engine", engine),
    TEXT("container", container),
    TEXT("pod", pod),
    TEXT("unit", unit),
#undef TEXT
};

static void write_place(const struct process_place *place, json_t *object)
{
    for (size_t i = 0; i < sizeof(place_texts) / sizeof(*place_texts); i++) {
        const char *text = (const char *)place + place_texts[i].offset;

        if (*text)
            json_object_set_new(object, place_texts[i].name, entry_text_of(text));
    }
}

static void read_place(struct entry *entry, struct process_place *place)
{
    for (size_t i = 0; i < sizeof(place_texts) / sizeof(*place_texts); i++) {
        const char *text = entry_text(entry, place_texts[i].name);

        snprintf((char *)place + place_texts[i].offset, place_texts[i].bytes, "%s",
                 text ? text : "");
    }
}

/* Of what the program told by itself: allocations and waits. */
static void write_own(const struct feed_status_view *status, json_t *object)
{
    const struct {
        const char *name;
        uint64_t value;
    } counts[] = {
        { "allocations", status->allocations },
        { "allocationsLost", status->allocations_lost },
        { "allocationsLoose", status->allocations_loose },
        { "lockWaits", status->lock_waits },
        { "lockNs", status->lock_ns },
        { "waits", status->waits_sampled },
        { "waitsLost", status->waits_lost },
        { "faults", status->faults_sampled },
        { "faultsLost", status->faults_lost },
    };

    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
        if (counts[i].value)
            json_object_set_new(object, counts[i].name, entry_uint_of(counts[i].value));
}

static json_t *write_status(const struct feed_status_view *status)
{
    json_t *object = json_pack(
        "{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I}",
        "timer", timer_words[status->timer], "timerReason", reason_words[status->timer_reason],
        "truePeriodUs", (json_int_t)status->true_period_us, "threads",
        (json_int_t)status->threads_used, "modulesUsed", (json_int_t)status->modules_used,
        "modulesLive", (json_int_t)status->modules_live, "ticks", (json_int_t)status->ticks,
        "delivered", (json_int_t)status->delivered, "lost",
        write_counts(status->lost, loss_words, FEED_LOSS_COUNT), "eventsLost",
        write_counts(status->events_lost, event_loss_words, FEED_EVENT_LOSS_COUNT), "ends",
        write_counts(status->ends, end_words, FEED_END_COUNT), "tableBytes",
        (json_int_t)status->table_bytes, "upkeepNs", (json_int_t)status->upkeep_ns, "cpuNs",
        (json_int_t)status->cpu_ns, "sampledNs", (json_int_t)status->sampled_ns, "namesFull",
        (json_int_t)status->names_full, "codesFull", (json_int_t)status->codes_full, "loopsLost",
        (json_int_t)status->loops_lost);

    if (object)
        write_own(status, object);
    return object;
}

json_t *process_entry_write(const struct process_saved *process)
{
    const struct process_info *info = &process->info;
    json_t *object =
        json_pack("{s:I, s:i, s:i, s:o, s:I, s:b, s:b, s:I, s:I, s:I, s:o, s:o, s:o}", "id",
                  (json_int_t)info->id, "pid", (int)info->pid, "ppid", (int)info->ppid, "exe",
                  entry_text_of(info->exe), "startUs", (json_int_t)info->start_us, "started",
                  (int)info->started, "execed", (int)process->execed, "evicted",
                  (json_int_t)info->evicted, "corrupt", (json_int_t)info->corrupt, "unstored",
                  (json_int_t)info->unstored, "runtimes", write_runtimes(info->runtimes), "modules",
                  write_modules(&process->met), "status", write_status(&info->status));

    if (object)
        write_place(&info->place, object);
    if (object && *info->unknown_runtime)
        json_object_set_new(object, "unknownRuntime", entry_text_of(info->unknown_runtime));
    if (object && !info->live) {
        json_object_set_new(object, "endUs", json_integer(info->end_us));
        json_object_set_new(object, "endNumber", entry_uint_of(info->end_number));
        if (info->exit_known)
            json_object_set_new(object, "waitStatus", json_integer(info->wait_status));
    }
    return object;
}

/* Words that are not known are left out. */
static void read_counts(struct entry *entry, const char *name, uint64_t *counts,
                        const char *const *words, size_t count)
{
    struct entry object = *entry;

    object.object = entry_object(entry, name);
    if (!object.object)
        return;
    for (size_t i = 0; i < count; i++)
        counts[i] = (uint64_t)entry_int(&object, words[i], 0, INT64_MAX);
    entry->bad |= object.bad;
}

static uint32_t word_number(const char *word, const char *const *words, uint32_t count)
{
    uint32_t number = 0;

    while (word && number < count && strcmp(word, words[number]))
        number++;
    return word && number < count ? number : 0;
}

static uint32_t read_runtimes(struct entry *entry)
{
    const json_t *list = entry_list(entry, "runtimes");
    uint32_t runtimes = 0;

    for (size_t i = 0; i < json_array_size(list); i++)
        for (uint32_t number = 0; number < RUNTIME_COUNT; number++)
            if (json_is_string(json_array_get(list, i)) &&
                !strcmp(json_string_value(json_array_get(list, i)), runtime_words[number]))
                runtimes |= 1u << number;
    return runtimes;
}

static void read_status(struct entry *around, struct feed_status_view *out)
{
    struct entry status = *around;

    status.object = entry_object(around, "status");
    if (!status.object)
        return;
    *out = (struct feed_status_view){
        .timer = word_number(entry_text(&status, "timer"), timer_words, FEED_TIMER_COUNT),
        .timer_reason =
            word_number(entry_text(&status, "timerReason"), reason_words, FEED_TIMER_REASON_COUNT),
        .true_period_us = (uint32_t)entry_int(&status, "truePeriodUs", 0, UINT32_MAX),
        .threads_used = (uint32_t)entry_int(&status, "threads", 0, UINT32_MAX),
        .modules_used = (uint32_t)entry_int(&status, "modulesUsed", 0, UINT32_MAX),
        .modules_live = (uint32_t)entry_int(&status, "modulesLive", 0, UINT32_MAX),
        .ticks = (uint64_t)entry_int(&status, "ticks", 0, INT64_MAX),
        .delivered = (uint64_t)entry_int(&status, "delivered", 0, INT64_MAX),
        .table_bytes = (uint64_t)entry_int(&status, "tableBytes", 0, INT64_MAX),
        .upkeep_ns = (uint64_t)entry_int(&status, "upkeepNs", 0, INT64_MAX),
        .cpu_ns = (uint64_t)entry_int(&status, "cpuNs", 0, INT64_MAX),
        .sampled_ns = (uint64_t)entry_int(&status, "sampledNs", 0, INT64_MAX),
        .names_full = (uint64_t)entry_int(&status, "namesFull", 0, INT64_MAX),
        .codes_full = (uint64_t)entry_int(&status, "codesFull", 0, INT64_MAX),
        .loops_lost = (uint64_t)entry_int(&status, "loopsLost", 0, INT64_MAX),
        .allocations = (uint64_t)entry_int(&status, "allocations", 0, INT64_MAX),
        .allocations_lost = (uint64_t)entry_int(&status, "allocationsLost", 0, INT64_MAX),
        .allocations_loose = (uint64_t)entry_int(&status, "allocationsLoose", 0, INT64_MAX),
        .lock_waits = (uint64_t)entry_int(&status, "lockWaits", 0, INT64_MAX),
        .lock_ns = (uint64_t)entry_int(&status, "lockNs", 0, INT64_MAX),
        .waits_sampled = (uint64_t)entry_int(&status, "waits", 0, INT64_MAX),
        .waits_lost = (uint64_t)entry_int(&status, "waitsLost", 0, INT64_MAX),
        .faults_sampled = (uint64_t)entry_int(&status, "faults", 0, INT64_MAX),
        .faults_lost = (uint64_t)entry_int(&status, "faultsLost", 0, INT64_MAX),
    };
    read_counts(&status, "lost", out->lost, loss_words, FEED_LOSS_COUNT);
    read_counts(&status, "eventsLost", out->events_lost, event_loss_words, FEED_EVENT_LOSS_COUNT);
    read_counts(&status, "ends", out->ends, end_words, FEED_END_COUNT);
    around->bad |= status.bad;
}

void process_entry_read(struct entry *entry, struct process_saved *out)
{
    struct process_info *info = &out->info;
    const char *exe = entry_text(entry, "exe"), *unknown = entry_text(entry, "unknownRuntime");

    info->id = (uint64_t)entry_int(entry, "id", 0, INT64_MAX / 2);
    if (!info->id)
        entry_fail(entry, "'id' is missing");
    info->pid = (int32_t)entry_int(entry, "pid", INT32_MIN, INT32_MAX);
    info->ppid = (int32_t)entry_int(entry, "ppid", INT32_MIN, INT32_MAX);
    snprintf(info->exe, sizeof(info->exe), "%s", exe ? exe : "");
    info->start_us = entry_int(entry, "startUs", 0, INT64_MAX / 4);
    info->end_us = entry_int(entry, "endUs", 0, INT64_MAX / 4);
    info->end_number = (uint64_t)entry_int(entry, "endNumber", 0, INT64_MAX);
    info->started = entry_flag(entry, "started");
    out->execed = entry_flag(entry, "execed");
    info->exit_known = json_object_get(entry->object, "waitStatus") != NULL;
    info->wait_status = (int)entry_int(entry, "waitStatus", INT32_MIN, INT32_MAX);
    info->evicted = (uint64_t)entry_int(entry, "evicted", 0, INT64_MAX);
    info->corrupt = (uint64_t)entry_int(entry, "corrupt", 0, INT64_MAX);
    info->unstored = (uint64_t)entry_int(entry, "unstored", 0, INT64_MAX);
    info->runtimes = read_runtimes(entry);
    read_place(entry, &info->place);
    snprintf(info->unknown_runtime, sizeof(info->unknown_runtime), "%s", unknown ? unknown : "");
    read_status(entry, &info->status);
}
