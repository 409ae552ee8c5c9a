#include "compose.h"

#include "../../include/isoscope/isoscope.h"

#include <stdio.h>
#include <stdlib.h>

/* Stacks that are kept are so far from each other, and no deeper: one that looks each 5 ms has them all. */
static const int64_t stack_step_ns = 4000000;
enum { STACK_DEPTH_MAX = 128 };

static const char *name_of(const struct composition *made, uint32_t function)
{
    return made->gathered.functions[function].name;
}

static struct stall_place place_of(const struct composition *made, struct culprit_frame frame)
{
    const struct gathered_function *function = &made->gathered.functions[frame.function];

    return (struct stall_place){ function->name, function->library, function->file, frame.line };
}

static void tell_story(struct composition *made)
{
    const struct culprit *culprit = &made->culprit;

    for (uint32_t i = 0; i < culprit->run_count; i++)
        made->runs[i] =
            (struct stall_run){ name_of(made, culprit->runs[i].function), culprit->runs[i].from_ns,
                                culprit->runs[i].to_ns, culprit->runs[i].looks };
    for (uint32_t i = 0; i < culprit->prefix_count; i++)
        made->prefix[i] = name_of(made, culprit->prefix[i]);
    made->stall.runs = made->runs;
    made->stall.run_count = culprit->run_count;
    made->stall.prefix = made->prefix;
    made->stall.prefix_count = culprit->prefix_count;
}

static void tell_culprit(struct composition *made)
{
    const struct culprit *culprit = &made->culprit;
    struct stall *stall = &made->stall;

    stall->culprit = place_of(made, culprit->leaf);
    stall->culprit_ns = culprit->longest.known_ns;
    stall->culprit_looks = culprit->looks;
    stall->looks = made->gathered.facts.count;
    if (culprit->has_caller)
        stall->caller = place_of(made, culprit->caller);
    for (uint32_t i = culprit->longest.first; i < culprit->longest.end; i++)
        if (made->gathered.tags[i])
            stall->tag = made->gathered.tags[i];
}

/* The last ones, from the newest back. Fills numbers; returns how many. */
static uint32_t choose_stacks(const struct culprit_case *facts, uint32_t numbers[STALL_STACKS_MAX])
{
    int64_t before_ns = INT64_MAX;
    uint32_t count = 0;

    for (uint32_t i = facts->count; i-- > 0 && count < STALL_STACKS_MAX;) {
        if (before_ns != INT64_MAX && before_ns - facts->samples[i].at_ns < stack_step_ns)
            continue;
        before_ns = facts->samples[i].at_ns;
        numbers[count++] = i;
    }
    return count;
}

static int tell_stacks(struct composition *made)
{
    const struct culprit_case *facts = &made->gathered.facts;
    uint32_t numbers[STALL_STACKS_MAX], count = choose_stacks(facts, numbers);
    const char **at = malloc(((size_t)count * STACK_DEPTH_MAX + 1) * sizeof(*at));

    made->functions = at;
    if (!at)
        return -ISOSCOPE_NO_MEMORY;
    for (uint32_t i = 0; i < count; i++) {
        const struct culprit_sample *sample = &facts->samples[numbers[count - 1 - i]];
        const struct culprit_stack *stack = &facts->stacks[sample->stack];
        uint32_t depth = stack->depth < STACK_DEPTH_MAX ? stack->depth : STACK_DEPTH_MAX;

        made->stacks[i] = (struct stall_stack){ sample->at_ns, sample->state, depth, at };
        for (uint32_t frame = 0; frame < depth; frame++)
            *at++ = name_of(made, stack->frames[frame].function);
    }
    made->stall.stacks = made->stacks;
    made->stall.stack_count = count;
    return 0;
}

/* Where who is waited for stood: in code of its own, if there is some. */
static void find_holder(struct composition *made, struct profile *profile,
                        struct gather_window window)
{
    struct stall *stall = &made->stall;
    struct gathered holder;
    struct culprit culprit;

    window.tid = stall->evidence.holder_tid;
    if (stall->cause != STALL_CAUSE_LOCK || window.tid <= 0 || *stall->evidence.holder_function ||
        gather(&holder, profile, &window) < 0)
        return;
    made->complete &= holder.complete;
    if (culprit_find(&holder.facts, &culprit)) {
        bool called = culprit.has_caller && !culprit.script;
        uint32_t function = called ? culprit.caller.function : culprit.leaf.function;

        snprintf(stall->evidence.holder_function, sizeof(stall->evidence.holder_function), "%s",
                 holder.functions[function].name);
    }
    gather_free(&holder);
}

/* The slice that stood open where the culprit's run ended. */
static void find_slice(struct composition *made, struct profile *profile,
                       struct gather_window window)
{
    window.first_ns = window.last_ns = made->culprit.longest.to_ns;
    if (gather_slice(&made->gathered, profile, &window) == 0 && *made->gathered.slice)
        made->stall.slice = made->gathered.slice;
}

static struct gather_window window_of(const struct stall *stall, int64_t now_ns)
{
    int64_t end_ns;

    if (stall->ongoing ||
        __builtin_add_overflow(stall->start_ns.min, stall->duration_ns.max, &end_ns))
        end_ns = now_ns;
    return (struct gather_window){ stall->process_id, stall->tid, stall->start_ns.min, end_ns };
}

static void begin(struct composition *made, const struct stall_task *task)
{
    static const struct stall_place nowhere = { "", "", NULL, 0 };

    made->key = made->newest = 0;
    made->functions = NULL;
    made->stall = task->stall;
    made->stall.culprit = made->stall.caller = nowhere;
}

int compose(struct composition *out, struct profile *profile, const struct stall_task *task,
            int64_t now_ns)
{
    struct gather_window window = window_of(&task->stall, now_ns);
    int error;

    begin(out, task);
    error = gather(&out->gathered, profile, &window);
    if (error == -ISOSCOPE_NOT_FOUND) { /* nothing of the process is remembered */
        out->gathered = (struct gathered){ .complete = true };
        error = 0;
    }
    if (error)
        return error;
    out->complete = out->gathered.complete;
    find_holder(out, profile, window);
    if (!culprit_find(&out->gathered.facts, &out->culprit))
        return 0;
    out->key = out->culprit.key;
    out->newest = out->culprit.newest;
    tell_culprit(out);
    tell_story(out);
    find_slice(out, profile, window);
    error = tell_stacks(out);
    if (error)
        composition_free(out);
    return error;
}

void composition_free(struct composition *made)
{
    gather_free(&made->gathered);
    free(made->functions);
    made->functions = NULL;
}
