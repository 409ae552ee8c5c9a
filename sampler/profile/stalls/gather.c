#include "gather.h"

#include "../../include/isoscope/isoscope.h"
#include "../base/grow.h"
#include "../base/map64.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const enum sample_kind kinds[] = { SAMPLES_OF_TIME, SAMPLES_OF_STALLS };
enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

static const int64_t asleep_lasts_ns = 500000000; /* looks come each 50 ms at least */
static const int64_t tick_lasts_ns = 10000000;

/* What is built up. Frames of stacks are places in one array until it no longer moves. */
struct builder {
    struct gathered *out;
    struct culprit_sample *samples;
    struct culprit_function *functions;
    struct culprit_stack *stacks;
    uint32_t *stack_frames; /* by stack: where its frames begin */
    struct culprit_frame *frames;
    uint32_t sample_count, sample_capacity, tag_capacity, function_count, function_capacity,
        shown_capacity, stack_count, stack_capacity, place_capacity, frame_count, frame_capacity;
    struct map64 function_numbers; /* id -> number + 1 */
    struct map64 stack_numbers;    /* hash -> number + 1 */
};

static uint64_t hash_of(const char *text)
{
    uint64_t hash = UINT64_C(14695981039346656037);

    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return hash;
}

/* asyncio's and uvloop's: what stands outside of it started the loop, and is of no dispatch. */
static bool runs_loop(const char *name)
{
    static const char end[] = "run_forever";
    size_t length = strlen(name);

    return length >= sizeof(end) - 1 && !strcmp(name + length - (sizeof(end) - 1), end);
}

/* Its number; UINT32_MAX: no memory. Two kinds of samples have tables of their own. */
static uint32_t function_number(struct builder *builder, const struct snapshot_function *function,
                                const struct snapshot_library *library)
{
    struct gathered *out = builder->out;
    uint64_t id = hash_of(function->id);
    uint32_t *number;
    bool added;

    if (!GROW(builder->functions, builder->function_count, builder->function_capacity) ||
        !GROW(out->functions, builder->function_count, builder->shown_capacity) ||
        !(number = map64_put(&builder->function_numbers, id, &added)))
        return UINT32_MAX;
    if (added) {
        builder->functions[builder->function_count] =
            (struct culprit_function){ id, !library->system, library->runtime != NULL,
                                       library->runs != NULL,
                                       library->runtime && runs_loop(function->name) };
        out->functions[builder->function_count] =
            (struct gathered_function){ function->name, library->name, function->file };
        *number = ++builder->function_count;
    }
    return *number - 1;
}

/* Of each frame of the snapshot; from malloc. */
static struct culprit_frame *frames_of(struct builder *builder, const struct snapshot *snapshot)
{
    uint32_t count, ignored;
    const struct snapshot_frame *frames = snapshot_frames(snapshot, &count);
    const struct snapshot_function *functions = snapshot_functions(snapshot, &ignored);
    const struct snapshot_library *libraries = snapshot_libraries(snapshot, &ignored);
    struct culprit_frame *out = calloc((size_t)count + 1, sizeof(*out));

    for (uint32_t i = 0; out && i < count; i++) {
        const struct snapshot_function *function = &functions[frames[i].function];

        out[i].function = function_number(builder, function, &libraries[function->library]);
        out[i].line =
            frames[i].file ? 0 : frames[i].line; /* of another file: not this function's */
        if (out[i].function == UINT32_MAX) {
            free(out);
            return NULL;
        }
    }
    return out;
}

static bool is_stack(const struct builder *builder, uint32_t number,
                     const struct snapshot_sample *sample, const struct culprit_frame *frames)
{
    const struct culprit_stack *stack = &builder->stacks[number];
    const struct culprit_frame *known = &builder->frames[builder->stack_frames[number]];

    if (stack->depth != sample->depth || stack->whole != (sample->end == FEED_END_ROOT))
        return false;
    for (uint32_t i = 0; i < stack->depth; i++)
        if (known[i].function != frames[sample->frames[i]].function ||
            known[i].line != frames[sample->frames[i]].line)
            return false;
    return true;
}

static bool add_stack(struct builder *builder, const struct snapshot_sample *sample,
                      const struct culprit_frame *frames)
{
    if (!GROW(builder->stacks, builder->stack_count, builder->stack_capacity) ||
        !GROW(builder->stack_frames, builder->stack_count, builder->place_capacity))
        return false;
    builder->stacks[builder->stack_count] =
        (struct culprit_stack){ NULL, sample->depth, sample->end == FEED_END_ROOT, 0 };
    builder->stack_frames[builder->stack_count] = builder->frame_count;
    for (uint32_t i = 0; i < sample->depth; i++) {
        if (!GROW(builder->frames, builder->frame_count, builder->frame_capacity))
            return false;
        builder->frames[builder->frame_count++] = frames[sample->frames[i]];
    }
    builder->stack_count++;
    return true;
}

/* Its number; UINT32_MAX: no memory. */
static uint32_t stack_number(struct builder *builder, const struct snapshot_sample *sample,
                             const struct culprit_frame *frames)
{
    uint64_t hash = sample->end == FEED_END_ROOT ? sample->depth : ~(uint64_t)sample->depth;
    uint32_t *number;
    bool added;

    for (uint32_t i = 0; i < sample->depth; i++) {
        const struct culprit_frame *frame = &frames[sample->frames[i]];

        hash =
            (hash ^ ((uint64_t)frame->function << 32 | frame->line)) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 31;
    }
    for (;; hash++) {
        number = map64_put(&builder->stack_numbers, hash, &added);
        if (!number)
            return UINT32_MAX;
        if (added && !add_stack(builder, sample, frames))
            return UINT32_MAX;
        if (added)
            *number = builder->stack_count;
        if (added || is_stack(builder, *number - 1, sample, frames))
            return *number - 1;
    }
}

/* A tick says nothing of a sleep behind it, but stands for no less than its CPU time. */
static int64_t lasts_ns(const struct snapshot_sample *sample, uint32_t step)
{
    int64_t cpu_ns = sample->weight < INT64_C(1000000000) ? (int64_t)sample->weight : 1000000000;
    int64_t ns = cpu_ns * 4 > tick_lasts_ns ? cpu_ns * 4 : tick_lasts_ns;

    if (sample->state >= FEED_STATE_LOCK)
        ns = asleep_lasts_ns;
    return ns * step;
}

static int add_samples(struct builder *builder, struct snapshot *snapshot,
                       const struct culprit_frame *frames, const struct gather_window *window)
{
    uint32_t cursor = 0, met = 0;
    uint32_t step = snapshot_sample_count(snapshot) / GATHER_SAMPLES_MAX + 1;
    struct snapshot_sample sample;

    while (snapshot_next(snapshot, &cursor, &sample)) {
        int64_t at_ns = sample.timestamp_us * 1000;
        uint32_t stack;

        if (met++ % step || at_ns + 999 < window->first_ns || at_ns > window->last_ns)
            continue;
        stack = stack_number(builder, &sample, frames);
        if (stack == UINT32_MAX ||
            !GROW(builder->samples, builder->sample_count, builder->sample_capacity) ||
            !GROW(builder->out->tags, builder->sample_count, builder->tag_capacity))
            return -ISOSCOPE_NO_MEMORY;
        builder->out->tags[builder->sample_count] = sample.tag;
        builder->samples[builder->sample_count++] =
            (struct culprit_sample){ at_ns, lasts_ns(&sample, step), stack, sample.state };
    }
    return 0;
}

/* With all names, or with those that there are. */
static int take_kind(struct gathered *out, struct profile *profile, enum sample_kind kind,
                     const struct gather_window *window)
{
    int64_t first_us = window->first_ns / 1000;
    struct snapshot_window asked = { .kind = kind,
                                     .process_id = window->process_id,
                                     .tid = window->tid,
                                     .bounded = true,
                                     .origin_us = first_us,
                                     .extent_us = window->last_ns / 1000 - first_us };
    int error = snapshot_take(&out->snapshots[kind], profile, &asked);

    if (error != -ISOSCOPE_PENDING)
        return error;
    out->complete = false;
    asked.partial_names_ok = true;
    return snapshot_take(&out->snapshots[kind], profile, &asked);
}

static int add_kind(struct builder *builder, struct profile *profile, enum sample_kind kind,
                    const struct gather_window *window)
{
    struct culprit_frame *frames;
    int error = take_kind(builder->out, profile, kind, window);

    if (error)
        return error;
    frames = frames_of(builder, builder->out->snapshots[kind]);
    if (!frames)
        return -ISOSCOPE_NO_MEMORY;
    error = add_samples(builder, builder->out->snapshots[kind], frames, window);
    free(frames);
    return error;
}

struct ordered {
    struct culprit_sample sample;
    const char *tag;
};

static int by_time(const void *left, const void *right)
{
    const struct ordered *a = left, *b = right;

    return a->sample.at_ns < b->sample.at_ns ? -1 : a->sample.at_ns > b->sample.at_ns;
}

/* The kinds stand one behind the other. */
static int sort(struct builder *builder)
{
    struct ordered *all = calloc((size_t)builder->sample_count + 1, sizeof(*all));

    if (!all)
        return -ISOSCOPE_NO_MEMORY;
    for (uint32_t i = 0; i < builder->sample_count; i++)
        all[i] = (struct ordered){ builder->samples[i], builder->out->tags[i] };
    qsort(all, builder->sample_count, sizeof(*all), by_time);
    for (uint32_t i = 0; i < builder->sample_count; i++) {
        builder->samples[i] = all[i].sample;
        builder->out->tags[i] = all[i].tag;
    }
    free(all);
    return 0;
}

static void finish(struct builder *builder, const struct gather_window *window)
{
    for (uint32_t i = 0; i < builder->stack_count; i++) {
        builder->stacks[i].frames = &builder->frames[builder->stack_frames[i]];
        builder->stacks[i].top = culprit_top(builder->functions, &builder->stacks[i]);
    }
    builder->out->facts = (struct culprit_case){ .samples = builder->samples,
                                                 .count = builder->sample_count,
                                                 .stacks = builder->stacks,
                                                 .functions = builder->functions,
                                                 .end_ns = window->last_ns };
}

int gather(struct gathered *out, struct profile *profile, const struct gather_window *window)
{
    struct builder builder = { .out = out };
    int error = 0;

    *out = (struct gathered){ .complete = true };
    for (size_t i = 0; i < KINDS && !error; i++)
        error = add_kind(&builder, profile, kinds[i], window);
    if (!error)
        error = sort(&builder);
    finish(&builder, window);
    out->frames = builder.frames;
    map64_free(&builder.function_numbers);
    map64_free(&builder.stack_numbers);
    free(builder.stack_frames);
    if (error)
        gather_free(out);
    return error;
}

void gather_free(struct gathered *gathered)
{
    free((void *)gathered->facts.samples);
    free((void *)gathered->facts.stacks);
    free((void *)gathered->facts.functions);
    free(gathered->functions);
    free(gathered->frames);
    free(gathered->tags);
    for (int kind = 0; kind < SAMPLE_KINDS; kind++)
        snapshot_free(gathered->snapshots[kind]);
    *gathered = (struct gathered){ 0 };
}

/* A slice that covers the whole of it; of those the one that began last. */
int gather_slice(struct gathered *out, struct profile *profile, const struct gather_window *window)
{
    const struct timeline_window asked = { .process_id = window->process_id,
                                           .tid = window->tid,
                                           .bounded = true,
                                           .origin_us = window->first_ns / 1000,
                                           .extent_us = (window->last_ns - window->first_ns) / 1000,
                                           .kinds = 1 << TIMELINE_SLICE,
                                           .open = true };
    struct timeline *timeline;
    struct timeline_event event;
    uint64_t cursor = 0;
    int64_t latest_ns = INT64_MIN;
    int error = timeline_take(&timeline, profile, &asked);

    if (error)
        return error;
    while (timeline_next(timeline, &cursor, &event)) {
        bool open = event.mark == TIMELINE_OPEN ||
                    event.start_ns + (int64_t)event.duration_ns >= window->last_ns;

        if (event.kind != TIMELINE_SLICE || !open || event.mark == TIMELINE_NO_BEGIN ||
            event.start_ns > window->last_ns || event.start_ns < latest_ns)
            continue;
        latest_ns = event.start_ns;
        snprintf(out->slice, sizeof(out->slice), "%s", event.name);
    }
    timeline_free(timeline);
    return 0;
}
