#include "snapshot.h"

#include "../feed/cleanup.h"
#include "../include/isoscope/isoscope.h"
#include "parts.h"
#include "processes.h"
#include "stacks.h"
#include "tables.h"
#include "window.h"

#include <stdlib.h>
#include <string.h>

enum { STACK_BLOCK = 4 };

struct snapshot {
    uint32_t period_us, depth_max;
    struct store_view *views; /* hold the chunks */
    uint32_t view_count;
    struct table_chain **chains; /* by view, then by its chunk's frame number; empty: not in use */
    struct window window;
    int64_t first_us, last_us;
    struct tables tables;
    uint32_t *stack; /* snapshot_next's result; room for the deepest */
};

static struct walk walk_stack(const struct snapshot *snapshot, const struct stack *stack)
{
    return walk_begin(snapshot->views[stack->view].chunk, stack->leaf, stack->caller);
}

static int name_stack(struct snapshot *snapshot, const struct stack *stack)
{
    struct table_chain *chains = snapshot->chains[stack->view];
    struct walk walk;
    uint32_t number;

    for (walk = walk_stack(snapshot, stack); !walk.ended; walk_on(&walk)) {
        if (chains[walk.frame].count)
            continue;
        if (tables_add(&snapshot->tables, walk.chunk->frames[walk.frame], &number) < 0)
            return -ISOSCOPE_NO_MEMORY;
        chains[walk.frame] = snapshot->tables.chains[number];
    }
    return 0;
}

static void forget_names(struct snapshot *snapshot)
{
    tables_free(&snapshot->tables);
    for (uint32_t view = 0; view < snapshot->view_count; view++)
        memset(snapshot->chains[view], 0,
               snapshot->views[view].frame_count * sizeof(**snapshot->chains));
}

/* -ISOSCOPE_PENDING only after all are gone through, so that all names are asked for at once. */
static int name_stacks(struct snapshot *snapshot, const struct stacks *stacks)
{
    int asked;

    do {
        forget_names(snapshot);
        for (uint32_t i = 0; i < stacks->count; i++)
            if (name_stack(snapshot, &stacks->list[i]) < 0)
                return -ISOSCOPE_NO_MEMORY;
        asked = tables_ask(&snapshot->tables);
    } while (asked > 0);
    if (asked < 0)
        return asked;
    return snapshot->tables.pending && !snapshot->tables.available ? -ISOSCOPE_PENDING : 0;
}

/* seen: by function, the last stack it was counted for; a recursive function counts once. */
static void count_in_chain(struct tables *tables, struct table_chain chain,
                           const struct stack *stack, uint32_t number, uint32_t *seen)
{
    for (uint32_t i = chain.first; i < chain.first + chain.count; i++) {
        uint32_t function = tables->frames[i].function;

        if (seen[function] == number)
            continue;
        seen[function] = number;
        tables->functions[function].inclusive += stack->samples;
    }
}

/* Returns how many frames it has in the source. */
static uint32_t count_in_stack(struct snapshot *snapshot, const struct stack *stack,
                               uint32_t number, uint32_t *seen)
{
    const struct table_chain *chains = snapshot->chains[stack->view];
    struct tables *tables = &snapshot->tables;
    const struct snapshot_frame *leaf = &tables->frames[chains[stack->leaf].first];
    uint32_t depth = 0;
    struct walk walk;

    tables->functions[leaf->function].exclusive += stack->samples;
    for (walk = walk_stack(snapshot, stack); !walk.ended; walk_on(&walk)) {
        count_in_chain(tables, chains[walk.frame], stack, number, seen);
        depth += chains[walk.frame].count;
    }
    return depth;
}

static int count_functions(struct snapshot *snapshot, const struct stacks *stacks)
{
    uint32_t *seen = calloc((size_t)snapshot->tables.function_count + 1, sizeof(*seen));
    uint32_t deepest = 0;

    if (!seen)
        return -ISOSCOPE_NO_MEMORY;
    for (uint32_t i = 0; i < stacks->count; i++) {
        uint32_t depth = count_in_stack(snapshot, &stacks->list[i], i + 1, seen);

        deepest = depth > deepest ? depth : deepest;
    }
    free(seen);
    snapshot->stack = calloc((size_t)deepest + STACK_BLOCK, sizeof(*snapshot->stack));
    return snapshot->stack ? 0 : -ISOSCOPE_NO_MEMORY;
}

static int map_chains(struct snapshot *snapshot)
{
    snapshot->chains = calloc((size_t)snapshot->view_count + 1, sizeof(*snapshot->chains));
    if (!snapshot->chains)
        return -ISOSCOPE_NO_MEMORY;
    for (uint32_t view = 0; view < snapshot->view_count; view++) {
        snapshot->chains[view] =
            calloc(snapshot->views[view].frame_count, sizeof(**snapshot->chains));
        if (!snapshot->chains[view])
            return -ISOSCOPE_NO_MEMORY;
    }
    return 0;
}

static int find_stacks(struct snapshot *snapshot, struct stacks *stacks,
                       const struct snapshot_window *asked)
{
    struct window *window = &snapshot->window;
    int error = window_open(window, snapshot->views, snapshot->view_count, asked);

    if (error < 0 || (error = stacks_find(stacks, window)) < 0 || !window->total)
        return error;
    snapshot->last_us = stacks->last_us;
    window_next(window); /* the first batch is what is asked for next */
    snapshot->first_us = pick_us(snapshot->views, window->picks[0]);
    return 0;
}

static int fill(struct snapshot *snapshot, struct profile *profile,
                const struct snapshot_window *window)
{
    CLEANUP(stacks_free) struct stacks stacks = { 0 };
    struct span span = window_span(window);
    struct store_ask ask = { .process_id = window->process_id,
                             .first_us = span.first_us,
                             .last_us = span.last_us,
                             .serial_min = window->since ? window->since->chunk : 0 };
    int error = store_views(profile->store, &ask, &snapshot->views, &snapshot->view_count, NULL);

    if (error)
        return error;
    window_choose_sources(snapshot->views, snapshot->view_count, window,
                          registry_names(profile->registry));
    if ((error = find_stacks(snapshot, &stacks, window)) < 0 ||
        (error = map_chains(snapshot)) < 0 || (error = name_stacks(snapshot, &stacks)) < 0)
        return error;
    chains_settle(profile->chains);
    tables_settle(&snapshot->tables);
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
    snapshot->tables.profile = profile;
    snapshot->tables.available = window->available;
    error = fill(snapshot, profile, window);
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
    for (uint32_t view = 0; snapshot->chains && view < snapshot->view_count; view++)
        free(snapshot->chains[view]);
    free(snapshot->chains);
    window_close(&snapshot->window);
    free(snapshot->stack);
    tables_free(&snapshot->tables);
    store_views_free(snapshot->views, snapshot->view_count);
    free(snapshot);
}

void snapshot_freep(struct snapshot **snapshot)
{
    snapshot_free(*snapshot);
}

uint32_t snapshot_sample_count(const struct snapshot *snapshot)
{
    return snapshot->window.total;
}

int64_t snapshot_first_us(const struct snapshot *snapshot)
{
    return snapshot->first_us;
}

int64_t snapshot_last_us(const struct snapshot *snapshot)
{
    return snapshot->last_us;
}

uint32_t snapshot_period_us(const struct snapshot *snapshot)
{
    return snapshot->period_us;
}

uint32_t snapshot_depth_max(const struct snapshot *snapshot)
{
    return snapshot->depth_max;
}

struct snapshot_mark snapshot_end(const struct snapshot *snapshot)
{
    return snapshot->window.sieve.end;
}

const struct snapshot_function *snapshot_functions(const struct snapshot *snapshot, uint32_t *count)
{
    *count = snapshot->tables.function_count;
    return snapshot->tables.functions;
}

const struct snapshot_frame *snapshot_frames(const struct snapshot *snapshot, uint32_t *count)
{
    *count = snapshot->tables.frame_count;
    return snapshot->tables.frames;
}

const struct snapshot_library *snapshot_libraries(const struct snapshot *snapshot, uint32_t *count)
{
    *count = snapshot->tables.library_count;
    return snapshot->tables.libraries;
}

static uint32_t fill_stack(struct snapshot *snapshot, uint32_t view, uint16_t leaf, uint16_t caller)
{
    const struct table_chain *chains = snapshot->chains[view];
    uint32_t *stack = snapshot->stack;
    struct walk walk;

    for (walk = walk_begin(snapshot->views[view].chunk, leaf, caller); !walk.ended;
         walk_on(&walk)) {
        struct table_chain chain = chains[walk.frame];

        /* Lengths come in no order: a fixed block costs less than guessing each wrongly. */
        for (uint32_t i = 0; i < STACK_BLOCK; i++)
            stack[i] = chain.first + i;
        for (uint32_t i = STACK_BLOCK; i < chain.count; i++)
            stack[i] = chain.first + i;
        stack += chain.count;
    }
    return (uint32_t)(stack - snapshot->stack);
}

/* The batch with the cursor's sample. False: there is none. */
static bool find_batch(struct window *window, uint32_t cursor)
{
    if (cursor < window->first)
        window_rewind(window);
    while (cursor >= window->first + window->count)
        if (!window_next(window))
            return false;
    return true;
}

/* A pick in one number. */
static uint32_t place_of(struct pick pick)
{
    return (uint32_t)pick.view << 16 | pick.sample;
}

bool snapshot_next(struct snapshot *snapshot, uint32_t *cursor, struct snapshot_sample *out)
{
    struct window *window = &snapshot->window;
    const struct store_view *view;
    const struct chunk_sample *sample;
    const struct view_source *source;
    struct pick pick;

    if (!find_batch(window, *cursor))
        return false;
    pick = window->picks[(*cursor)++ - window->first];
    view = &snapshot->views[pick.view];
    sample = &view->chunk->samples[pick.sample];
    source = &view->sources[sample->source];
    *out = (struct snapshot_sample){
        .timestamp_us = chunk_sample_us(view->chunk, pick.sample),
        .process_id = source->process_id,
        .tid = source->tid,
        .thread_name = source->name,
        .tag = names_text(registry_names(snapshot->tables.profile->registry), source->tag),
        .cpu_ns = chunk_sample_cpu_ns(view->chunk, pick.sample),
        .end = (enum feed_end)sample->end,
        .state = sample->state,
        .depth = fill_stack(snapshot, pick.view, sample->leaf, sample->caller),
        .frames = snapshot->stack,
        .place = place_of(pick),
    };
    return true;
}

uint32_t snapshot_stack(struct snapshot *snapshot, uint32_t place, const uint32_t **frames)
{
    uint32_t view = place >> 16;
    const struct chunk_sample *sample = &snapshot->views[view].chunk->samples[place & 0xffff];

    *frames = snapshot->stack;
    return fill_stack(snapshot, view, sample->leaf, sample->caller);
}
