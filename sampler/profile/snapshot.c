#include "snapshot.h"

#include "../feed/cleanup.h"
#include "../include/isoscope/isoscope.h"
#include "function_table.h"
#include "map64.h"
#include "parts.h"
#include "processes.h"
#include "window.h"

#include <stdlib.h>

enum { NOT_NAMED = UINT32_MAX };

struct snapshot {
    uint32_t period_us, depth_max;
    struct store_view *views; /* hold the chunks */
    uint32_t view_count;
    uint32_t **functions; /* by view, then by its chunk's frame number; NOT_NAMED: not in use */
    struct pick *picks;
    uint32_t pick_count;
    struct function_table table;
    uint32_t stack[FEED_DEPTH_MAX]; /* snapshot_next's result */
};

/* The samples of a chunk that have the same stack: most do, so stacks are walked, not samples. */
struct stack {
    uint32_t view;
    uint16_t caller, leaf;
    uint64_t samples;
};

struct stacks {
    struct stack *list; /* in the order of their first sample */
    uint32_t count;
};

static void stacks_free(struct stacks *stacks)
{
    free(stacks->list);
}

/* One more for the stack; a new one gets the list's next place. */
static int count_stack(struct stacks *stacks, struct map64 *known, const struct snapshot *snapshot,
                       struct pick pick)
{
    const struct chunk_sample *sample = &snapshot->views[pick.view].chunk->samples[pick.sample];
    bool added;
    uint32_t *place = map64_put(
        known, (uint64_t)pick.view << 32 | (uint32_t)sample->caller << 16 | sample->leaf, &added);

    if (!place)
        return -ISOSCOPE_NO_MEMORY;
    if (added) {
        *place = stacks->count++;
        stacks->list[*place] = (struct stack){ pick.view, sample->caller, sample->leaf, 0 };
    }
    stacks->list[*place].samples++;
    return 0;
}

static int find_stacks(struct stacks *stacks, const struct snapshot *snapshot)
{
    CLEANUP(map64_free) struct map64 known = { 0 };

    stacks->list = calloc((size_t)snapshot->pick_count + 1, sizeof(*stacks->list));
    if (!stacks->list)
        return -ISOSCOPE_NO_MEMORY;
    for (uint32_t i = 0; i < snapshot->pick_count; i++)
        if (count_stack(stacks, &known, snapshot, snapshot->picks[i]) < 0)
            return -ISOSCOPE_NO_MEMORY;
    return 0;
}

/* Walks a stack of frame numbers, leaf first. */
struct walk {
    const struct chunk *chunk;
    uint16_t frame, caller;
    bool ended;
};

static struct walk walk_begin(const struct chunk *chunk, uint16_t leaf, uint16_t caller)
{
    return (struct walk){ chunk, leaf, caller, false };
}

static void walk_on(struct walk *walk)
{
    struct chunk_node node = walk->chunk->nodes[walk->caller];

    walk->ended = walk->caller == 0;
    walk->frame = node.frame;
    walk->caller = node.parent;
}

static struct walk walk_stack(const struct snapshot *snapshot, const struct stack *stack)
{
    return walk_begin(snapshot->views[stack->view].chunk, stack->leaf, stack->caller);
}

static int name_stack(struct snapshot *snapshot, const struct stack *stack)
{
    uint32_t *functions = snapshot->functions[stack->view];
    struct walk walk;

    for (walk = walk_stack(snapshot, stack); !walk.ended; walk_on(&walk)) {
        if (functions[walk.frame] == NOT_NAMED &&
            function_table_add(&snapshot->table, walk.chunk->frames[walk.frame],
                               &functions[walk.frame]) < 0)
            return -ISOSCOPE_NO_MEMORY;
    }
    return 0;
}

/* -ISOSCOPE_PENDING only after all are gone through, so that all names are asked for at once. */
static int name_stacks(struct snapshot *snapshot, const struct stacks *stacks)
{
    for (uint32_t i = 0; i < stacks->count; i++)
        if (name_stack(snapshot, &stacks->list[i]) < 0)
            return -ISOSCOPE_NO_MEMORY;
    return snapshot->table.pending ? -ISOSCOPE_PENDING : 0;
}

/* seen: by function, the last stack it was counted for; a recursive function counts once. */
static void count_in_stack(struct snapshot *snapshot, const struct stack *stack, uint32_t number,
                           uint32_t *seen)
{
    const uint32_t *functions = snapshot->functions[stack->view];
    struct walk walk;

    snapshot->table.functions[functions[stack->leaf]].exclusive += stack->samples;
    for (walk = walk_stack(snapshot, stack); !walk.ended; walk_on(&walk)) {
        uint32_t function = functions[walk.frame];

        if (seen[function] == number)
            continue;
        seen[function] = number;
        snapshot->table.functions[function].inclusive += stack->samples;
    }
}

static int count_functions(struct snapshot *snapshot, const struct stacks *stacks)
{
    uint32_t *seen = calloc((size_t)snapshot->table.function_count + 1, sizeof(*seen));

    if (!seen)
        return -ISOSCOPE_NO_MEMORY;
    for (uint32_t i = 0; i < stacks->count; i++)
        count_in_stack(snapshot, &stacks->list[i], i + 1, seen);
    free(seen);
    return 0;
}

static int map_functions(struct snapshot *snapshot)
{
    snapshot->functions = calloc((size_t)snapshot->view_count + 1, sizeof(*snapshot->functions));
    if (!snapshot->functions)
        return -ISOSCOPE_NO_MEMORY;
    for (uint32_t view = 0; view < snapshot->view_count; view++) {
        uint32_t count = snapshot->views[view].frame_count;

        snapshot->functions[view] = calloc(count, sizeof(**snapshot->functions));
        if (!snapshot->functions[view])
            return -ISOSCOPE_NO_MEMORY;
        for (uint32_t frame = 0; frame < count; frame++)
            snapshot->functions[view][frame] = NOT_NAMED;
    }
    return 0;
}

static int fill(struct snapshot *snapshot, struct store *store,
                const struct snapshot_window *window)
{
    CLEANUP(stacks_free) struct stacks stacks = { 0 };
    int error;

    if ((error = store_views(store, window->process_id, &snapshot->views, &snapshot->view_count)) <
            0 ||
        (error = window_pick(&snapshot->picks, &snapshot->pick_count, snapshot->views,
                             snapshot->view_count, window)) < 0 ||
        (error = map_functions(snapshot)) < 0 || (error = find_stacks(&stacks, snapshot)) < 0 ||
        (error = name_stacks(snapshot, &stacks)) < 0)
        return error;
    return count_functions(snapshot, &stacks);
}

int snapshot_take(struct snapshot **out, struct profile *profile,
                  const struct snapshot_window *window)
{
    CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
    struct process_info process;
    int error;

    if (window->process_id && !profile_process(profile, window->process_id, &process))
        return -ISOSCOPE_NOT_FOUND;
    snapshot = calloc(1, sizeof(*snapshot));
    if (!snapshot)
        return -ISOSCOPE_NO_MEMORY;
    snapshot->period_us = profile_period_us(profile);
    snapshot->depth_max = profile_depth_max(profile);
    snapshot->table.registry = profile->registry;
    snapshot->table.namer = profile->namer;
    error = fill(snapshot, profile->store, window);
    if (error)
        return error;
    *out = snapshot;
    snapshot = NULL;
    return 0;
}

void snapshot_free(struct snapshot *snapshot)
{
    if (!snapshot)
        return;
    for (uint32_t view = 0; snapshot->functions && view < snapshot->view_count; view++)
        free(snapshot->functions[view]);
    free(snapshot->functions);
    free(snapshot->picks);
    function_table_free(&snapshot->table);
    store_views_free(snapshot->views, snapshot->view_count);
    free(snapshot);
}

void snapshot_freep(struct snapshot **snapshot)
{
    snapshot_free(*snapshot);
}

uint32_t snapshot_sample_count(const struct snapshot *snapshot)
{
    return snapshot->pick_count;
}

int64_t snapshot_first_us(const struct snapshot *snapshot)
{
    return snapshot->pick_count ? pick_us(snapshot->views, snapshot->picks[0]) : 0;
}

int64_t snapshot_last_us(const struct snapshot *snapshot)
{
    return snapshot->pick_count
               ? pick_us(snapshot->views, snapshot->picks[snapshot->pick_count - 1])
               : 0;
}

uint32_t snapshot_period_us(const struct snapshot *snapshot)
{
    return snapshot->period_us;
}

uint32_t snapshot_depth_max(const struct snapshot *snapshot)
{
    return snapshot->depth_max;
}

const struct snapshot_function *snapshot_functions(const struct snapshot *snapshot, uint32_t *count)
{
    *count = snapshot->table.function_count;
    return snapshot->table.functions;
}

const struct snapshot_library *snapshot_libraries(const struct snapshot *snapshot, uint32_t *count)
{
    *count = snapshot->table.library_count;
    return snapshot->table.libraries;
}

static uint32_t fill_stack(struct snapshot *snapshot, uint32_t view, uint16_t leaf, uint16_t caller)
{
    const uint32_t *functions = snapshot->functions[view];
    uint32_t depth = 0;
    struct walk walk;

    for (walk = walk_begin(snapshot->views[view].chunk, leaf, caller); !walk.ended; walk_on(&walk))
        snapshot->stack[depth++] = functions[walk.frame];
    return depth;
}

bool snapshot_next(struct snapshot *snapshot, uint32_t *cursor, struct snapshot_sample *out)
{
    const struct store_view *view;
    const struct chunk_sample *sample;
    const struct view_source *source;
    struct pick pick;

    if (*cursor >= snapshot->pick_count)
        return false;
    pick = snapshot->picks[(*cursor)++];
    view = &snapshot->views[pick.view];
    sample = &view->chunk->samples[pick.sample];
    source = &view->sources[sample->source];
    *out = (struct snapshot_sample){
        .timestamp_us = chunk_sample_us(view->chunk, pick.sample),
        .process_id = source->process_id,
        .tid = source->tid,
        .thread_name = source->name,
        .tag = names_text(registry_names(snapshot->table.registry), source->tag),
        .cpu_ns = chunk_sample_cpu_ns(view->chunk, pick.sample),
        .end = (enum feed_end)sample->end,
        .state = sample->state,
        .depth = fill_stack(snapshot, pick.view, sample->leaf, sample->caller),
        .functions = snapshot->stack,
    };
    return true;
}
