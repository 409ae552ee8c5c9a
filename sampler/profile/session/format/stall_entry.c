#include "stall_entry.h"

#include "../../base/map64.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers go by their words: another version may count them otherwise. */
#define WORD(name, word, ...) word,
static const char *const level_words[] = { STALL_LEVELS(WORD) };
static const char *const cause_words[] = { STALL_CAUSES(WORD) };
#undef WORD

static const int64_t time_max = INT64_MAX / 4;

/* The list of texts while it grows. */
struct texts {
    json_t *list;
    struct map64 numbers; /* hash -> number of the last text that has it */
};

static uint64_t hash_of(const char *text)
{
    uint64_t hash = UINT64_C(14695981039346656037);

    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return hash;
}

/* 0: none. */
static json_t *text_of(struct texts *texts, const char *text)
{
    json_t *entry = text && *text ? entry_text_of(text) : NULL;
    uint32_t *number;
    bool added;

    if (!entry)
        return json_integer(0);
    number = map64_put(&texts->numbers, hash_of(json_string_value(entry)), &added);
    if (number && *number && json_equal(json_array_get(texts->list, *number - 1), entry)) {
        json_decref(entry);
        return json_integer(*number);
    }
    json_array_append_new(texts->list, entry);
    if (number)
        *number = (uint32_t)json_array_size(texts->list);
    return json_integer((json_int_t)json_array_size(texts->list));
}

static json_t *write_range(struct stall_range range)
{
    return json_pack("[I, I]", (json_int_t)range.min, (json_int_t)range.max);
}

static json_t *write_place(struct texts *texts, const struct stall_place *place)
{
    json_t *list = json_array();

    json_array_append_new(list, text_of(texts, place->function));
    json_array_append_new(list, text_of(texts, place->library));
    json_array_append_new(list, text_of(texts, place->file));
    json_array_append_new(list, json_integer(place->line));
    return list;
}

static json_t *write_texts(struct texts *texts, const char *const *from, uint32_t count)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < count; i++)
        json_array_append_new(list, text_of(texts, from[i]));
    return list;
}

static json_t *write_runs(struct texts *texts, const struct stall *stall)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < stall->run_count; i++) {
        const struct stall_run *run = &stall->runs[i];

        json_array_append_new(list, json_pack("[o, I, I, I]", text_of(texts, run->function),
                                              (json_int_t)run->from_ns, (json_int_t)run->to_ns,
                                              (json_int_t)run->looks));
    }
    return list;
}

static json_t *write_stacks(struct texts *texts, const struct stall *stall)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < stall->stack_count; i++) {
        const struct stall_stack *stack = &stall->stacks[i];

        json_array_append_new(list,
                              json_pack("[I, i, o]", (json_int_t)stack->at_ns, (int)stack->state,
                                        write_texts(texts, stack->functions, stack->depth)));
    }
    return list;
}

static json_t *write_evidence(const struct stall_evidence *evidence)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:o, s:i, s:o, s:i, s:o, s:o}", "runningNs",
                     (json_int_t)evidence->running_ns, "runnableNs",
                     (json_int_t)evidence->runnable_ns, "sleepingNs",
                     (json_int_t)evidence->sleeping_ns, "faults", (json_int_t)evidence->faults,
                     "hostLateNs", (json_int_t)evidence->host_late_ns, "systemCall",
                     entry_text_of(evidence->system_call), "descriptor", (int)evidence->descriptor,
                     "path", entry_text_of(evidence->path), "holderTid", (int)evidence->holder_tid,
                     "holder", entry_text_of(evidence->holder), "holderFunction",
                     entry_text_of(evidence->holder_function));
}

static json_t *write_facts(const struct stall *stall)
{
    return json_pack(
        "{s:I, s:I, s:I, s:o, s:i, s:o, s:s, s:b, s:b, s:I, s:I, s:I, s:o, s:o, s:s, s:o, s:I, "
        "s:I, s:I}",
        "number", (json_int_t)stall->number, "process", (json_int_t)stall->process_id, "loop",
        (json_int_t)stall->loop, "name", entry_text_of(stall->name), "tid", (int)stall->tid,
        "thread", entry_text_of(stall->thread_name), "level", level_words[stall->level], "ongoing",
        (int)stall->ongoing, "told", (int)stall->told, "equals", (json_int_t)stall->equals,
        "updates", (json_int_t)stall->updates, "limitNs", (json_int_t)stall->limit_ns, "startNs",
        write_range(stall->start_ns), "durationNs", write_range(stall->duration_ns), "cause",
        cause_words[stall->cause], "evidence", write_evidence(&stall->evidence), "culpritNs",
        (json_int_t)stall->culprit_ns, "culpritLooks", (json_int_t)stall->culprit_looks, "looks",
        (json_int_t)stall->looks);
}

json_t *stall_entry_write(const struct stall *stall, bool stacks)
{
    json_t *object = write_facts(stall);
    struct texts texts = { .list = json_array() };

    json_object_set_new(object, "culprit", write_place(&texts, &stall->culprit));
    json_object_set_new(object, "caller", write_place(&texts, &stall->caller));
    json_object_set_new(object, "tag", text_of(&texts, stall->tag));
    json_object_set_new(object, "slice", text_of(&texts, stall->slice));
    json_object_set_new(object, "prefix", write_texts(&texts, stall->prefix, stall->prefix_count));
    json_object_set_new(object, "runs", write_runs(&texts, stall));
    if (stacks)
        json_object_set_new(object, "stacks", write_stacks(&texts, stall));
    map64_free(&texts.numbers);
    json_object_set_new(object, "texts", texts.list);
    return object;
}

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

static struct stall_range read_range(struct entry *entry, const char *name)
{
    const json_t *list = entry_list(entry, name);
    struct stall_range range = { 0, 0 };

    if (!list)
        return range;
    range.min = entry_int_at(entry, name, list, 0, 0, time_max);
    range.max = entry_int_at(entry, name, list, 1, range.min, time_max);
    return range;
}

/* A text by its number in a list. NULL: it is 0. */
static const char *text_at(struct entry *entry, const char *name, const json_t *list, size_t at)
{
    const json_t *texts = json_object_get(entry->object, "texts");
    int64_t number = entry_int_at(entry, name, list, at, 0, (int64_t)json_array_size(texts));

    return number ? json_string_value(json_array_get(texts, (size_t)number - 1)) : NULL;
}

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

static void check_texts(struct entry *entry)
{
    const json_t *texts = entry_list(entry, "texts");

    for (size_t i = 0; i < json_array_size(texts); i++)
        if (!json_is_string(json_array_get(texts, i)))
            entry_fail(entry, "'texts' is no list of texts");
}

static const char *read_text(struct entry *entry, const char *name)
{
    const json_t *texts = json_object_get(entry->object, "texts");
    int64_t number = entry_int(entry, name, 0, (int64_t)json_array_size(texts));

    return number ? json_string_value(json_array_get(texts, (size_t)number - 1)) : NULL;
}

static struct stall_place read_place(struct entry *entry, const char *name)
{
    const json_t *list = entry_list(entry, name);

    if (!list)
        return (struct stall_place){ "", "", NULL, 0 };
    return (struct stall_place){ .function = or_empty(text_at(entry, name, list, 0)),
                                 .library = or_empty(text_at(entry, name, list, 1)),
                                 .file = text_at(entry, name, list, 2),
                                 .line =
                                     (uint32_t)entry_int_at(entry, name, list, 3, 0, UINT32_MAX) };
}

/* As many as there are; more than most cannot be. */
static uint32_t count_of(struct entry *entry, const char *name, const json_t *list, uint32_t most)
{
    size_t count = json_array_size(list);

    if (count > most)
        entry_fail(entry, "'%s' are more than %u", name, most);
    return count > most ? 0 : (uint32_t)count;
}

static void read_prefix(struct entry *entry, struct stall_reading *out)
{
    const json_t *list = entry_list(entry, "prefix");

    out->stall.prefix = out->prefix;
    out->stall.prefix_count = count_of(entry, "prefix", list, STALL_PREFIX_MAX);
    for (uint32_t i = 0; i < out->stall.prefix_count; i++)
        out->prefix[i] = or_empty(text_at(entry, "prefix", list, i));
}

static void read_runs(struct entry *entry, struct stall_reading *out)
{
    const json_t *list = entry_list(entry, "runs");

    out->stall.runs = out->runs;
    out->stall.run_count = count_of(entry, "runs", list, STALL_RUNS_MAX);
    for (uint32_t i = 0; i < out->stall.run_count; i++) {
        const json_t *run = json_array_get(list, i);

        out->runs[i].function = or_empty(text_at(entry, "runs", run, 0));
        out->runs[i].from_ns = entry_int_at(entry, "runs", run, 1, 0, time_max);
        out->runs[i].to_ns = entry_int_at(entry, "runs", run, 2, out->runs[i].from_ns, time_max);
        out->runs[i].looks = (uint32_t)entry_int_at(entry, "runs", run, 3, 0, UINT32_MAX);
    }
}

static void read_stack(struct entry *entry, const json_t *from, struct stall_stack *out,
                       const char **functions)
{
    const json_t *list = json_array_get(from, 2);

    out->at_ns = entry_int_at(entry, "stacks", from, 0, 0, time_max);
    out->state = (uint8_t)entry_int_at(entry, "stacks", from, 1, 0, UINT8_MAX);
    out->depth = count_of(entry, "stacks", list, STALL_ENTRY_DEPTH_MAX);
    out->functions = functions;
    for (uint32_t i = 0; i < out->depth; i++)
        functions[i] = or_empty(text_at(entry, "stacks", list, i));
}

static void read_stacks(struct entry *entry, struct stall_reading *out)
{
    const json_t *list = entry_list(entry, "stacks");

    out->stall.stacks = out->stacks;
    out->stall.stack_count = count_of(entry, "stacks", list, STALL_STACKS_MAX);
    for (uint32_t i = 0; i < out->stall.stack_count; i++)
        read_stack(entry, json_array_get(list, i), &out->stacks[i], out->functions[i]);
}

static void read_evidence(struct entry *around, struct stall_evidence *out)
{
    struct entry evidence = *around;

    out->descriptor = -1;
    evidence.object = entry_object(around, "evidence");
    if (!evidence.object)
        return;
    out->running_ns = (uint64_t)entry_int(&evidence, "runningNs", 0, INT64_MAX);
    out->runnable_ns = (uint64_t)entry_int(&evidence, "runnableNs", 0, INT64_MAX);
    out->sleeping_ns = (uint64_t)entry_int(&evidence, "sleepingNs", 0, INT64_MAX);
    out->faults = (uint64_t)entry_int(&evidence, "faults", 0, INT64_MAX);
    out->host_late_ns = (uint64_t)entry_int(&evidence, "hostLateNs", 0, INT64_MAX);
    out->descriptor = (int32_t)entry_int(&evidence, "descriptor", -1, INT32_MAX);
    out->holder_tid = (int32_t)entry_int(&evidence, "holderTid", 0, INT32_MAX);
    copy_text(&evidence, "systemCall", out->system_call, sizeof(out->system_call));
    copy_text(&evidence, "path", out->path, sizeof(out->path));
    copy_text(&evidence, "holder", out->holder, sizeof(out->holder));
    copy_text(&evidence, "holderFunction", out->holder_function, sizeof(out->holder_function));
    around->bad |= evidence.bad;
}

static void read_facts(struct entry *entry, struct stall *stall)
{
    stall->number = (uint64_t)entry_int(entry, "number", 0, INT64_MAX / 2);
    stall->process_id = (uint64_t)entry_int(entry, "process", 0, INT64_MAX / 2);
    stall->loop = (uint32_t)entry_int(entry, "loop", 0, INT32_MAX);
    stall->name = or_empty(entry_text(entry, "name"));
    stall->tid = (int32_t)entry_int(entry, "tid", 0, INT32_MAX);
    stall->thread_name = or_empty(entry_text(entry, "thread"));
    stall->level = word_number(entry_text(entry, "level"), level_words, STALL_LEVEL_COUNT);
    stall->ongoing = entry_flag(entry, "ongoing");
    stall->told = entry_flag(entry, "told");
    stall->equals = (uint32_t)entry_int(entry, "equals", 0, UINT32_MAX);
    stall->updates = (uint32_t)entry_int(entry, "updates", 0, UINT32_MAX);
    stall->limit_ns = entry_int(entry, "limitNs", 0, time_max);
    stall->start_ns = read_range(entry, "startNs");
    stall->duration_ns = read_range(entry, "durationNs");
    stall->cause = word_number(entry_text(entry, "cause"), cause_words, STALL_CAUSE_COUNT);
    stall->culprit_ns = entry_int(entry, "culpritNs", 0, time_max);
    stall->culprit_looks = (uint32_t)entry_int(entry, "culpritLooks", 0, UINT32_MAX);
    stall->looks = (uint32_t)entry_int(entry, "looks", 0, UINT32_MAX);
    if (!stall->number)
        entry_fail(entry, "'number' is missing");
}

void stall_entry_read(struct entry *entry, struct stall_reading *out)
{
    out->stall = (struct stall){ 0 };
    check_texts(entry);
    if (entry->bad)
        return;
    read_facts(entry, &out->stall);
    read_evidence(entry, &out->stall.evidence);
    out->stall.culprit = read_place(entry, "culprit");
    out->stall.caller = read_place(entry, "caller");
    out->stall.tag = read_text(entry, "tag");
    out->stall.slice = read_text(entry, "slice");
    read_prefix(entry, out);
    read_runs(entry, out);
    read_stacks(entry, out);
}
