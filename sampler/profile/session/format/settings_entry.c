#include "settings_entry.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#define WORD(name, word, ...) word,
static const char *const mode_words[] = { FEED_MODES(WORD) };
#undef WORD

static int64_t clock_us(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static json_t *list_of(const char *const *words)
{
    json_t *list = words ? json_array() : NULL;

    for (; words && *words; words++)
        json_array_append_new(list, entry_text_of(*words));
    return list;
}

void session_head_here(struct session_head *out, int64_t start_us, const char *cpu,
                       const char *const *command)
{
    struct utsname system = { 0 };

    uname(&system);
    *out = (struct session_head){ .start_us = start_us, .command = list_of(command) };
    out->wall_start_us = clock_us(CLOCK_REALTIME) - clock_us(CLOCK_MONOTONIC) + start_us;
    snprintf(out->producer, sizeof(out->producer), "isoscope %s", ISOSCOPE_VERSION);
    snprintf(out->host, sizeof(out->host), "%s", system.nodename);
    snprintf(out->machine, sizeof(out->machine), "%s", system.machine);
    snprintf(out->cpu, sizeof(out->cpu), "%s", cpu);
}

void session_head_again(struct session_head *head, const struct saved_session *session)
{
    head->start_us = session->start_us;
    head->wall_start_us = session->wall_start_us;
    snprintf(head->producer, sizeof(head->producer), "%s", session->producer);
    snprintf(head->host, sizeof(head->host), "%s", session->host);
}

void session_head_free(struct session_head *head)
{
    json_decref(head->command);
    head->command = NULL;
}

json_t *session_head_write(const struct session_head *head)
{
    json_t *object =
        json_pack("{s:o, s:o, s:o, s:o, s:I, s:I}", "producer", entry_text_of(head->producer),
                  "host", entry_text_of(head->host), "machine", entry_text_of(head->machine), "cpu",
                  entry_text_of(head->cpu), "startUs", (json_int_t)head->start_us, "wallStartUs",
                  (json_int_t)head->wall_start_us);

    if (object && head->command)
        json_object_set(object, "command", head->command);
    return object;
}

static void copy_text(struct entry *entry, const char *name, char *out, size_t size)
{
    const char *text = entry_text(entry, name);

    snprintf(out, size, "%s", text ? text : "");
}

void session_head_entry(struct entry *entry, struct session_head *out)
{
    const json_t *command = entry_list(entry, "command");

    for (size_t i = 0; i < json_array_size(command); i++)
        if (!json_is_string(json_array_get(command, i)))
            entry_fail(entry, "'command' is no list of texts");
    copy_text(entry, "producer", out->producer, sizeof(out->producer));
    copy_text(entry, "host", out->host, sizeof(out->host));
    copy_text(entry, "machine", out->machine, sizeof(out->machine));
    copy_text(entry, "cpu", out->cpu, sizeof(out->cpu));
    out->start_us = entry_int(entry, "startUs", 0, INT64_MAX / 4);
    out->wall_start_us = entry_int(entry, "wallStartUs", 0, INT64_MAX / 4);
    out->command = json_incref((json_t *)command);
}

static json_t *write_events(const struct timeline_history *events)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "evicted", (json_int_t)events->evicted,
                     "unstored", (json_int_t)events->unstored, "unmatched",
                     (json_int_t)events->unmatched, "cutOff", (json_int_t)events->cut_off,
                     "tooDeep", (json_int_t)events->too_deep, "backward",
                     (json_int_t)events->backward);
}

static int is_wanted(const struct feed_settings *asked, uint32_t want)
{
    return (asked->wants & want) != 0;
}

json_t *settings_entry_write(const struct session_settings *settings)
{
    const struct feed_settings *asked = &settings->settings;
    const struct profile_cpu *cpu = &settings->cpu;

    return json_pack(
        "{s:b, s:I, s:I, s:s, s:o, s:b, s:b, s:b, s:I, s:I, s:I, s:I, s:I, s:o, s:{s:I, s:I, s:I, "
        "s:I}}",
        "enabled", (int)asked->enabled, "periodUs", (json_int_t)asked->period_us, "depthMax",
        (json_int_t)asked->depth_max, "mode", mode_words[asked->mode], "wallThreads",
        entry_text_of(asked->wall_threads), "runtimes", is_wanted(asked, FEED_WANT_RUNTIMES), "gil",
        is_wanted(asked, FEED_WANT_GIL), "tasks", is_wanted(asked, FEED_WANT_TASKS), "allocBytes",
        (json_int_t)asked->allocation_bytes, "lockUs", (json_int_t)asked->lock_us, "faults",
        (json_int_t)asked->faults, "missed", (json_int_t)settings->missed, "eventsMissed",
        (json_int_t)settings->events_missed, "events", write_events(&settings->events), "cpu",
        "processes", (json_int_t)cpu->processes, "sampledNs", (json_int_t)cpu->sampled_ns,
        "notSampledNs", (json_int_t)cpu->not_sampled_ns, "treeNs", (json_int_t)cpu->tree_ns);
}

static void read_cpu(struct entry *around, struct profile_cpu *out)
{
    struct entry cpu = *around;

    cpu.object = entry_object(around, "cpu");
    if (!cpu.object)
        return;
    out->processes = (uint64_t)entry_int(&cpu, "processes", 0, INT64_MAX);
    out->sampled_ns = (uint64_t)entry_int(&cpu, "sampledNs", 0, INT64_MAX);
    out->not_sampled_ns = (uint64_t)entry_int(&cpu, "notSampledNs", 0, INT64_MAX);
    out->tree_ns = (uint64_t)entry_int(&cpu, "treeNs", 0, INT64_MAX);
    around->bad |= cpu.bad;
}

static void read_events(struct entry *around, struct timeline_history *out)
{
    struct entry events = *around;

    events.object = entry_object(around, "events");
    if (!events.object)
        return;
    out->evicted = (uint64_t)entry_int(&events, "evicted", 0, INT64_MAX);
    out->unstored = (uint64_t)entry_int(&events, "unstored", 0, INT64_MAX);
    out->unmatched = (uint64_t)entry_int(&events, "unmatched", 0, INT64_MAX);
    out->cut_off = (uint64_t)entry_int(&events, "cutOff", 0, INT64_MAX);
    out->too_deep = (uint64_t)entry_int(&events, "tooDeep", 0, INT64_MAX);
    out->backward = (uint64_t)entry_int(&events, "backward", 0, INT64_MAX);
    around->bad |= events.bad;
}

void settings_entry_read(struct entry *entry, struct session_settings *out)
{
    const char *mode = entry_text(entry, "mode");
    struct feed_settings *asked = &out->settings;

    *out = (struct session_settings){ 0 };
    asked->enabled = entry_flag(entry, "enabled");
    asked->period_us = (uint32_t)entry_int(entry, "periodUs", 1, UINT32_MAX);
    asked->depth_max = (uint32_t)entry_int(entry, "depthMax", 1, UINT32_MAX);
    for (uint32_t i = 0; mode && i < FEED_MODE_COUNT; i++)
        if (!strcmp(mode, mode_words[i]))
            asked->mode = (enum feed_mode)i;
    copy_text(entry, "wallThreads", asked->wall_threads, sizeof(asked->wall_threads));
    asked->wants = (entry_flag(entry, "runtimes") ? FEED_WANT_RUNTIMES : 0) |
                   (entry_flag(entry, "gil") ? FEED_WANT_GIL : 0) |
                   (entry_flag(entry, "tasks") ? FEED_WANT_TASKS : 0);
    asked->allocation_bytes = (uint32_t)entry_int(entry, "allocBytes", 0, UINT32_MAX);
    asked->lock_us = (uint32_t)entry_int(entry, "lockUs", 0, UINT32_MAX);
    asked->faults = (uint32_t)entry_int(entry, "faults", 0, UINT32_MAX);
    out->missed = (uint64_t)entry_int(entry, "missed", 0, INT64_MAX);
    out->events_missed = (uint64_t)entry_int(entry, "eventsMissed", 0, INT64_MAX);
    read_events(entry, &out->events);
    read_cpu(entry, &out->cpu);
}
