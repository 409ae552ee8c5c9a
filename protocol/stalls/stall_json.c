#include "stall_json.h"

#include "stall_text.h"
#include "stall_words.h"
#include "../samples/sample_words.h"
#include "../text/any_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static json_int_t us_of(uint64_t ns)
{
    return (json_int_t)(ns / 1000);
}

static json_t *isolate_id(uint64_t process_id)
{
    return json_sprintf("isolates/%" PRIu64, process_id);
}

/* NULL for "": the member is left out. */
static json_t *if_known(const char *text)
{
    return text && *text ? any_text(text) : NULL;
}

static json_t *range_json(struct stall_range ns)
{
    struct stall_range us = stall_range_us(ns);

    return json_pack("[I, I]", (json_int_t)us.min, (json_int_t)us.max);
}

static json_t *place_json(const struct stall_place *place)
{
    if (!place->function[0])
        return NULL;
    return json_pack("{s:o, s:o, s:o*, s:o*}", "function", any_text(place->function), "library",
                     any_text(place->library), "file", if_known(place->file), "line",
                     place->line ? json_integer(place->line) : NULL);
}

static json_t *culprit_json(const struct stall *stall)
{
    json_t *culprit = place_json(&stall->culprit);
    double share = stall->looks ? (double)stall->culprit_looks / stall->looks : 0;
    json_auto_t *figures =
        json_pack("{s:I, s:I, s:f}", "micros", us_of((uint64_t)stall->culprit_ns), "looks",
                  (json_int_t)stall->culprit_looks, "share", share < 1 ? share : 1.0);

    if (culprit)
        json_object_update(culprit, figures);
    return culprit;
}

static json_t *holder_json(const struct stall_evidence *evidence)
{
    if (!evidence->holder_tid)
        return NULL;
    return json_pack("{s:i, s:o, s:o}", "tid", evidence->holder_tid, "thread",
                     any_text(evidence->holder), "function", any_text(evidence->holder_function));
}

/* A list, or NULL when one of them found no memory. */
static json_t *texts_json(const char *const *texts, uint32_t count)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < count; i++) {
        if (json_array_append_new(list, any_text(texts[i])) == 0)
            continue;
        json_decref(list);
        return NULL;
    }
    return list;
}

static json_t *story_json(const struct stall *stall)
{
    json_t *story = json_array();

    for (uint32_t i = 0; i < stall->run_count; i++) {
        const struct stall_run *run = &stall->runs[i];
        json_t *entry = json_pack("{s:o, s:I, s:I, s:I}", "function", any_text(run->function),
                                  "fromMicros", us_of((uint64_t)run->from_ns), "toMicros",
                                  us_of((uint64_t)run->to_ns), "looks", (json_int_t)run->looks);

        if (json_array_append_new(story, entry) == 0)
            continue;
        json_decref(story);
        return NULL;
    }
    return story;
}

static json_t *stacks_json(const struct stall *stall)
{
    json_t *stacks = json_array();

    for (uint32_t i = 0; i < stall->stack_count; i++) {
        const struct stall_stack *stack = &stall->stacks[i];
        json_t *entry = json_pack("{s:I, s:s, s:o}", "micros", us_of((uint64_t)stack->at_ns),
                                  "state", sample_vm_tag(stack->state), "functions",
                                  texts_json(stack->functions, stack->depth));

        if (json_array_append_new(stacks, entry) == 0)
            continue;
        json_decref(stacks);
        return NULL;
    }
    return stacks;
}

/* Which one it is, and how late. */
static json_t *course_json(const struct stall *stall, int32_t pid)
{
    struct stall_range start = stall_range_us(stall->start_ns);
    struct stall_range duration = stall_range_us(stall->duration_ns);

    return json_pack(
        "{s:I, s:o, s:i, s:i, s:o, s:I, s:o, s:s, s:b, s:b, s:I, s:I, s:I, s:o, s:o, "
        "s:I, s:I}",
        "number", (json_int_t)stall->number, "isolateId", isolate_id(stall->process_id), "pid", pid,
        "tid", stall->tid, "thread", any_text(stall->thread_name), "loop", (json_int_t)stall->loop,
        "name", any_text(stall->name), "level", stall_level_words[stall->level], "ongoing",
        stall->ongoing, "told", stall->told, "equals", (json_int_t)stall->equals, "updates",
        (json_int_t)stall->updates, "limitMicros", us_of((uint64_t)stall->limit_ns), "startMicros",
        range_json(stall->start_ns), "durationMicros", range_json(stall->duration_ns),
        "timeOriginMicros", (json_int_t)start.min, "timeExtentMicros", (json_int_t)duration.max);
}

static json_t *cause_json(const struct stall *stall)
{
    const struct stall_evidence *evidence = &stall->evidence;
    char text[STALL_TEXT_MAX];

    stall_cause_text(text, stall);
    return json_pack("{s:s, s:o, s:I, s:I, s:I, s:I, s:I, s:o*, s:o*, s:o*, s:o*}", "cause",
                     stall_cause_words[stall->cause], "causeText", any_text(text), "runningMicros",
                     us_of(evidence->running_ns), "runnableMicros", us_of(evidence->runnable_ns),
                     "sleepingMicros", us_of(evidence->sleeping_ns), "faults",
                     (json_int_t)evidence->faults, "hostLateMicros", us_of(evidence->host_late_ns),
                     "systemCall", if_known(evidence->system_call), "descriptor",
                     evidence->descriptor >= 0 ? json_integer(evidence->descriptor) : NULL, "path",
                     if_known(evidence->path), "holder", holder_json(evidence));
}

static json_t *culprits_json(const struct stall *stall)
{
    return json_pack("{s:o*, s:o*, s:I, s:o*, s:o*, s:o, s:o}", "culprit", culprit_json(stall),
                     "caller", place_json(&stall->caller), "looks", (json_int_t)stall->looks, "tag",
                     if_known(stall->tag), "slice", if_known(stall->slice), "prefix",
                     texts_json(stall->prefix, stall->prefix_count), "story", story_json(stall));
}

json_t *stall_json(const struct stall *stall, int32_t pid, bool with_stacks)
{
    json_t *json = course_json(stall, pid);
    json_auto_t *cause = cause_json(stall);
    json_auto_t *culprits = culprits_json(stall);
    json_auto_t *stacks = with_stacks ? stacks_json(stall) : NULL;

    if (json && cause && culprits && (stacks || !with_stacks) &&
        json_object_update(json, cause) == 0 && json_object_update(json, culprits) == 0 &&
        (!with_stacks || json_object_set(json, "stacks", stacks) == 0))
        return json;
    json_decref(json);
    return NULL;
}
