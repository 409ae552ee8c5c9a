#include "culprit.h"

#include <string.h>

static const struct culprit_stack *stack_of(const struct culprit_case *facts, uint32_t sample)
{
    return &facts->stacks[facts->samples[sample].stack];
}

static const struct culprit_function *function_at(const struct culprit_function *functions,
                                                  const struct culprit_stack *stack, uint32_t frame)
{
    return &functions[stack->frames[frame].function];
}

uint32_t culprit_top(const struct culprit_function *functions, const struct culprit_stack *stack)
{
    uint32_t own = stack->depth, script = stack->depth;

    for (uint32_t i = 0; i < stack->depth && own == stack->depth; i++) {
        const struct culprit_function *function = function_at(functions, stack, i);

        if (function->script && script == stack->depth)
            script = i;
        if (function->loop)
            break;
        /* Native code of one's own counts as well, where functions of the runtime call it. */
        if (function->own && !function->native && (function->script || script == stack->depth))
            own = i;
    }
    for (uint32_t i = own; i < stack->depth && script == stack->depth; i++)
        if (function_at(functions, stack, i)->script)
            script = i;
    if (script == stack->depth)
        return 0;
    return own < stack->depth ? own : script;
}

static const struct culprit_frame *top_frame(const struct culprit_case *facts, uint32_t sample)
{
    const struct culprit_stack *stack = stack_of(facts, sample);

    return &stack->frames[stack->top];
}

static uint32_t top(const struct culprit_case *facts, uint32_t sample)
{
    return top_frame(facts, sample)->function;
}

/* How long a sample stands for what it saw. */
static int64_t known_ns(const struct culprit_case *facts, uint32_t sample)
{
    const struct culprit_sample *it = &facts->samples[sample];
    int64_t next_ns = sample + 1 < facts->count ? facts->samples[sample + 1].at_ns : facts->end_ns;
    int64_t ns = next_ns - it->at_ns;

    if (ns > it->lasts_ns)
        ns = it->lasts_ns;
    return ns > 0 ? ns : 0;
}

/* The run that begins with that sample. */
static struct culprit_run run_at(const struct culprit_case *facts, uint32_t first)
{
    struct culprit_run run = { .function = top(facts, first),
                               .from_ns = facts->samples[first].at_ns,
                               .first = first,
                               .end = first };

    for (; run.end < facts->count && top(facts, run.end) == run.function; run.end++) {
        int64_t ns = known_ns(facts, run.end);

        run.known_ns += ns;
        run.to_ns = facts->samples[run.end].at_ns + ns;
        run.looks++;
    }
    return run;
}

/* Two runs of which one is not longer for certain: what happened between two samples is not known. */
static bool equal_runs(const struct culprit_run *a, const struct culprit_run *b)
{
    int64_t a_step = a->known_ns / a->looks, b_step = b->known_ns / b->looks;
    int64_t step = a_step < b_step ? a_step : b_step;
    int64_t apart = a->known_ns - b->known_ns;

    return (apart < 0 ? -apart : apart) < (step ? step : 1);
}

static struct culprit_run find_longest(const struct culprit_case *facts)
{
    struct culprit_run most = { 0 }, latest, run;

    for (uint32_t at = 0; at < facts->count; at = run.end) {
        run = run_at(facts, at);
        if (!most.looks || run.known_ns > most.known_ns)
            most = run;
    }
    latest = most;
    for (uint32_t at = most.end; at < facts->count; at = run.end) {
        run = run_at(facts, at);
        if (equal_runs(&most, &run))
            latest = run;
    }
    return latest;
}

/* The run goes into the one before it; of the first the one behind it begins earlier. */
static void merge_away(struct culprit_run *runs, uint32_t *count, uint32_t number)
{
    uint32_t away = 1;

    if (number)
        runs[number - 1].to_ns = runs[number].to_ns;
    else
        runs[1].from_ns = runs[0].from_ns;
    if (number && number + 1 < *count && runs[number - 1].function == runs[number + 1].function) {
        runs[number - 1].to_ns = runs[number + 1].to_ns;
        runs[number - 1].known_ns += runs[number + 1].known_ns;
        runs[number - 1].looks += runs[number + 1].looks;
        away = 2;
    }
    memmove(&runs[number], &runs[number + away], (*count - number - away) * sizeof(*runs));
    *count -= away;
}

static uint32_t shortest(const struct culprit_run *runs, uint32_t count, uint32_t spared)
{
    uint32_t least = UINT32_MAX;

    for (uint32_t i = 0; i < count; i++)
        if (runs[i].first != spared &&
            (least == UINT32_MAX || runs[i].known_ns < runs[least].known_ns))
            least = i;
    return least;
}

/* Of any number of runs the same ones stay, whether the shortest goes each time that there is one too many
 * or at the end. */
static void tell_story(const struct culprit_case *facts, struct culprit *out)
{
    struct culprit_run runs[STALL_RUNS_MAX + 1], run;
    uint32_t count = 0;

    for (uint32_t at = 0; at < facts->count; at = run.end) {
        run = run_at(facts, at);
        if (count &&
            runs[count - 1].function == run.function) { /* what lay between was merged away */
            runs[count - 1].to_ns = run.to_ns;
            runs[count - 1].known_ns += run.known_ns;
            runs[count - 1].looks += run.looks;
            continue;
        }
        runs[count++] = run;
        if (count > STALL_RUNS_MAX)
            merge_away(runs, &count, shortest(runs, count, out->longest.first));
    }
    memcpy(out->runs, runs, count * sizeof(*runs));
    out->run_count = count;
}

static uint32_t from_root(const struct culprit_stack *stack, uint32_t number)
{
    return stack->frames[stack->depth - 1 - number].function;
}

/* How many functions the whole stacks of [first, end) begin with; *one: one of these stacks. to_top: what is
 * above the frames on top does not count. */
static uint32_t common_prefix(const struct culprit_case *facts, uint32_t first, uint32_t end,
                              bool to_top, const struct culprit_stack **one)
{
    const struct culprit_stack *before = NULL;
    uint32_t count = 0;

    for (uint32_t sample = first; sample < end; sample++) {
        const struct culprit_stack *stack = stack_of(facts, sample);
        uint32_t depth = stack->depth - (to_top ? stack->top : 0);
        uint32_t same = 0, most = before && count < depth ? count : depth;

        if (!stack->whole || stack == before)
            continue;
        while (before && same < most && from_root(stack, same) == from_root(before, same))
            same++;
        count = before ? same : depth;
        before = stack;
    }
    *one = before;
    return count;
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* A function that calls itself counts once, however deep: else each stall would be a new one. */
static uint64_t key_of(const struct culprit_case *facts, const struct culprit_stack *stack,
                       uint32_t count, uint32_t function)
{
    uint64_t key = 1;
    uint32_t last = function;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t next = from_root(stack, i);

        if (!i || next != last)
            key = mix(key, facts->functions[next].id);
        last = next;
    }
    return count && function == last ? key : mix(key, facts->functions[function].id);
}

static void find_prefixes(const struct culprit_case *facts, struct culprit *out)
{
    const struct culprit_stack *stack;
    uint32_t count = common_prefix(facts, 0, facts->count, false, &stack);

    out->prefix_count = count < STALL_PREFIX_MAX ? count : STALL_PREFIX_MAX;
    for (uint32_t i = 0; i < out->prefix_count; i++)
        out->prefix[i] = from_root(stack, i);
    count = common_prefix(facts, out->longest.first, out->longest.end, true, &stack);
    out->key = key_of(facts, stack, count, out->longest.function);
}

static bool is_scripted(const struct culprit_case *facts, const struct culprit_stack *stack)
{
    for (uint32_t i = 0; i < stack->depth; i++)
        if (function_at(facts->functions, stack, i)->script)
            return true;
    return false;
}

/* The frame of the program's own code nearest to the top; where a runtime runs it, below the top. */
static bool own_frame(const struct culprit_case *facts, uint32_t sample, struct culprit_frame *out)
{
    const struct culprit_stack *stack = stack_of(facts, sample);
    bool scripted = is_scripted(facts, stack);

    for (uint32_t i = scripted ? stack->top + 1 : 0; i < stack->depth; i++) {
        const struct culprit_function *function = function_at(facts->functions, stack, i);

        if (scripted && function->loop)
            return false;
        if (function->own && !(scripted && function->native)) {
            *out = stack->frames[i];
            return true;
        }
    }
    return false;
}

/* Of most samples in the run, by Boyer and Moore's vote: where there is no majority, it is one of them. */
static void find_caller(const struct culprit_case *facts, struct culprit *out)
{
    uint32_t votes = 0;

    for (uint32_t sample = out->longest.first; sample < out->longest.end; sample++) {
        struct culprit_frame frame;

        if (!own_frame(facts, sample, &frame))
            continue;
        if (!votes)
            out->caller = frame;
        votes += out->caller.function == frame.function ? 1 : -1;
        if (out->caller.function == frame.function)
            out->caller.line = frame.line;
        out->has_caller = true;
    }
}

static uint64_t newest_of(const struct culprit_case *facts)
{
    for (uint32_t sample = facts->count; sample-- > 0;) {
        const struct culprit_stack *stack = stack_of(facts, sample);

        if (stack->whole)
            return key_of(facts, stack, stack->depth, stack->frames[0].function) | 1;
    }
    return 0;
}

bool culprit_find(const struct culprit_case *facts, struct culprit *out)
{
    if (!facts->count)
        return false;
    memset(out, 0, sizeof(*out));
    out->longest = find_longest(facts);
    for (uint32_t sample = 0; sample < facts->count; sample++)
        out->looks += top(facts, sample) == out->longest.function;
    out->leaf = *top_frame(facts, out->longest.end - 1);
    out->script = is_scripted(facts, stack_of(facts, out->longest.end - 1));
    tell_story(facts, out);
    find_prefixes(facts, out);
    find_caller(facts, out);
    out->newest = newest_of(facts);
    return true;
}
