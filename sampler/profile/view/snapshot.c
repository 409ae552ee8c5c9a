#include "../snapshot.h"

#include "../../feed/cleanup.h"
#include "../../include/isoscope/isoscope.h"
#include "../intake/processes.h"
#include "../parts.h"
#include "counted.h"
#include "stacks.h"
#include "tables.h"
#include "window.h"

#include <stdlib.h>
#include <string.h>

enum { STACK_BLOCK = 4 };

/* Work: of a sample beside others, of a frame that is new to a view, or to all, of a node. */
enum {
    WORK_SAMPLE = 1,
    WORK_STACK = 6,
    WORK_FRAME = 16,
    WORK_NEW_FRAME = 300,
    WORK_NODE = 2,
    WORK_COUNTED = 4
};

enum phase { PHASE_COUNT, PHASE_FIRST, PHASE_NAMES, PHASE_ASK, PHASE_TICKS, PHASE_DONE };

/* What is needed while a snapshot is taken, and no longer. */
struct taking {
    enum phase phase;
    uint32_t view, sample;                  /* how far the phase is */
    bool in_view;                           /* the view has begun */
    uint64_t named[CHUNK_ENTRIES_MAX / 64]; /* nodes of the view: their frames are in the tables */
    struct stacks stacks;                   /* of the view */
    uint32_t slot;                          /* of the stacks */
    uint32_t *seen;                         /* by function, the last stack it was counted for */
    uint32_t stack;                         /* the number of this one */
    uint32_t deepest;
};

struct snapshot {
    uint32_t period_us, depth_max;
    struct store_view *views; /* hold the chunks */
    uint32_t view_count;
    struct table_chain **chains; /* by view (NULL: it has no samples), then by its chunk's frame
                                  * number; empty: not in use */
    struct window window;
    bool is_counted;
    struct counted counted;
    uint32_t told; /* how many samples, copies among them */
    int64_t first_us, last_us;
    struct tables tables;
    uint32_t *stack;       /* snapshot_next's result; room for the deepest */
    struct taking *taking; /* NULL: it is taken */
};

/* From the first view on. */
static void begin_phase(struct taking *taking, enum phase phase)
{
    taking->phase = phase;
    taking->view = 0;
    taking->in_view = false;
}

/* Moves on to a view that has samples. False: there is none. */
static bool find_view(const struct snapshot *snapshot, struct taking *taking)
{
    while (taking->view < snapshot->view_count && !taking->in_view &&
           !window_reaches(&snapshot->window, taking->view))
        taking->view++;
    return taking->view < snapshot->view_count;
}

static void begin_view(const struct snapshot *snapshot, struct taking *taking)
{
    taking->in_view = true;
    taking->sample = snapshot->window.reach[taking->view].first;
}

static void end_view(struct taking *taking)
{
    taking->in_view = false;
    taking->view++;
}

/* The next sample of the view that the window shows. False: there is none, or no work left. */
static bool next_sample(const struct snapshot *snapshot, struct taking *taking, int64_t *work,
                        struct pick *pick)
{
    uint32_t end = snapshot->window.reach[taking->view].end;

    while (*work > 0 && taking->sample < end) {
        *pick = (struct pick){ (uint16_t)taking->view, (uint16_t)taking->sample++ };
        work_off(work, WORK_SAMPLE);
        if (window_shows(&snapshot->window, *pick))
            return true;
    }
    return false;
}

static bool view_is_done(const struct snapshot *snapshot, const struct taking *taking)
{
    return taking->sample == snapshot->window.reach[taking->view].end;
}

static int find_first(struct snapshot *snapshot, int64_t *work)
{
    if (window_gather(&snapshot->window, work))
        return 1;
    if (snapshot->window.total)
        snapshot->first_us = snapshot->is_counted
                                 ? counted_first_us(&snapshot->counted, &snapshot->window)
                                 : pick_us(snapshot->views, snapshot->window.picks[0]);
    snapshot->last_us = snapshot->first_us;
    snapshot->told = snapshot->is_counted ? 0 : snapshot->window.total;
    return 0;
}

/* Names. */

static int name_frame(struct snapshot *snapshot, uint32_t view, uint16_t frame, int64_t *work)
{
    struct table_chain *chain = &snapshot->chains[view][frame];
    uint32_t known = snapshot->tables.chain_count, number;

    if (chain->count)
        return 0;
    if (tables_add(&snapshot->tables, snapshot->views[view].chunk->frames[frame], &number) < 0)
        return -ISOSCOPE_NO_MEMORY;
    *chain = snapshot->tables.chains[number];
    work_off(work, number < known ? WORK_FRAME : WORK_NEW_FRAME);
    return 0;
}

/* Where a node is named already, so is all that leads to it. */
static int name_stack(struct snapshot *snapshot, struct pick pick, int64_t *work)
{
    const struct chunk *chunk = snapshot->views[pick.view].chunk;
    const struct chunk_sample *sample = &chunk->samples[pick.sample];
    uint64_t *named = snapshot->taking->named;
    int error = name_frame(snapshot, pick.view, sample->leaf, work);

    for (uint32_t node = sample->caller;
         node && !(named[node / 64] & UINT64_C(1) << node % 64) && !error;
         node = chunk->nodes[node].parent) {
        named[node / 64] |= UINT64_C(1) << node % 64;
        work_off(work, WORK_NODE);
        error = name_frame(snapshot, pick.view, chunk->nodes[node].frame, work);
    }
    return error;
}

static int begin_names(struct snapshot *snapshot, struct taking *taking)
{
    struct table_chain **chains = &snapshot->chains[taking->view];

    free(*chains); /* of an earlier round */
    *chains = calloc(snapshot->views[taking->view].frame_count, sizeof(**chains));
    memset(taking->named, 0, sizeof(taking->named));
    begin_view(snapshot, taking);
    return *chains ? 0 : -ISOSCOPE_NO_MEMORY;
}

static int name_view(struct snapshot *snapshot, struct taking *taking, int64_t *work)
{
    struct pick pick;

    while (next_sample(snapshot, taking, work, &pick)) {
        int64_t time_us = pick_us(snapshot->views, pick);

        if (time_us > snapshot->last_us)
            snapshot->last_us = time_us;
        if (name_stack(snapshot, pick, work) < 0)
            return -ISOSCOPE_NO_MEMORY;
    }
    return !view_is_done(snapshot, taking);
}

static int name_stacks(struct snapshot *snapshot, struct taking *taking, int64_t *work)
{
    int error;

    while (find_view(snapshot, taking)) {
        if (!taking->in_view && begin_names(snapshot, taking) < 0)
            return -ISOSCOPE_NO_MEMORY;
        if ((error = name_view(snapshot, taking, work)))
            return error;
        end_view(taking);
    }
    return 0;
}

/* -ISOSCOPE_PENDING only after all are gone through, so that all names are asked for at once. */
static int ask_for_names(struct snapshot *snapshot, struct taking *taking, int64_t *work)
{
    struct tables *tables = &snapshot->tables;
    int error = tables_ask(tables, work);

    if (error)
        return error;
    if (tables->resolved) {
        tables_free(tables);
        begin_phase(taking, PHASE_NAMES);
        return 0;
    }
    if (tables->pending && !tables->partial_names_ok)
        return -ISOSCOPE_PENDING;
    inline_chains_settle(tables->profile->chains);
    tables_settle(tables);
    work_end(work); /* much was given back */
    taking->seen = calloc((size_t)tables->function_count + 1, sizeof(*taking->seen));
    begin_phase(taking, PHASE_TICKS);
    return taking->seen ? 0 : -ISOSCOPE_NO_MEMORY;
}

/* Ticks. */

/* A recursive function counts once. */
static void count_in_chain(struct tables *tables, struct table_chain chain,
                           const struct stack *stack, struct taking *taking)
{
    for (uint32_t i = chain.first; i < chain.first + chain.count; i++) {
        uint32_t function = tables->frames[i].function;

        if (taking->seen[function] == taking->stack)
            continue;
        taking->seen[function] = taking->stack;
        tables->functions[function].inclusive += stack->samples;
    }
}

static void count_in_stack(struct snapshot *snapshot, const struct stack *stack,
                           struct taking *taking, int64_t *work)
{
    const struct table_chain *chains = snapshot->chains[taking->view];
    struct tables *tables = &snapshot->tables;
    const struct snapshot_frame *leaf = &tables->frames[chains[stack->leaf].first];
    struct walk walk = walk_begin(snapshot->views[taking->view].chunk, stack->leaf, stack->caller);
    uint32_t depth = 0;

    taking->stack++;
    tables->functions[leaf->function].exclusive += stack->samples;
    for (; !walk.ended; walk_on(&walk)) {
        count_in_chain(tables, chains[walk.frame], stack, taking);
        depth += chains[walk.frame].count;
    }
    if (depth > taking->deepest)
        taking->deepest = depth;
    work_off(work, depth * WORK_COUNTED);
}

/* How often it is told. */
static uint32_t count_sample(struct snapshot *snapshot, struct pick pick)
{
    struct counted *counted = &snapshot->counted;
    int64_t time_us = pick_us(snapshot->views, pick);
    uint32_t times = snapshot->is_counted ? counted_times(counted, pick) : 1;

    if (!snapshot->is_counted || !times)
        return times;
    snapshot->told += times;
    time_us = counted_us(counted, time_us, 0, times);
    if (time_us < snapshot->first_us)
        snapshot->first_us = time_us;
    return times;
}

static int begin_ticks(struct snapshot *snapshot, struct taking *taking)
{
    taking->slot = 0;
    begin_view(snapshot, taking);
    if (snapshot->is_counted && counted_view(&snapshot->counted, taking->view) < 0)
        return -ISOSCOPE_NO_MEMORY;
    return stacks_begin(&taking->stacks, snapshot->window.reach[taking->view].count);
}

/* The view's samples to stacks, and those to functions. 1: call again. */
static int count_view(struct snapshot *snapshot, struct taking *taking, int64_t *work)
{
    struct stacks *stacks = &taking->stacks;
    struct pick pick;

    while (next_sample(snapshot, taking, work, &pick)) {
        const struct chunk_sample *sample = &snapshot->views[pick.view].chunk->samples[pick.sample];

        uint32_t times = count_sample(snapshot, pick);

        if (times)
            stacks_add(stacks, sample->caller, sample->leaf, times);
        work_off(work, WORK_STACK);
    }
    if (!view_is_done(snapshot, taking))
        return 1;
    for (; *work > 0 && taking->slot < stacks->slot_count; taking->slot++) {
        work_off(work, WORK_SAMPLE);
        if (stacks->slots[taking->slot].samples)
            count_in_stack(snapshot, &stacks->slots[taking->slot], taking, work);
    }
    return taking->slot < stacks->slot_count;
}

static int count_ticks(struct snapshot *snapshot, struct taking *taking, int64_t *work)
{
    while (find_view(snapshot, taking)) {
        if (!taking->in_view && begin_ticks(snapshot, taking) < 0)
            return -ISOSCOPE_NO_MEMORY;
        if (count_view(snapshot, taking, work))
            return 1;
        end_view(taking);
    }
    if (snapshot->is_counted)
        counted_rewind(&snapshot->counted);
    snapshot->stack = calloc((size_t)taking->deepest + STACK_BLOCK, sizeof(*snapshot->stack));
    return snapshot->stack ? 0 : -ISOSCOPE_NO_MEMORY;
}

static void taking_free(struct taking *taking)
{
    if (!taking)
        return;
    stacks_free(&taking->stacks);
    free(taking->seen);
    free(taking);
}

/* Does all of a phase, and begins the next one. 1: call again. */
static int do_phase(struct snapshot *snapshot, struct taking *taking, int64_t *work)
{
    int error;

    switch (taking->phase) {
    case PHASE_COUNT:
        if (!(error = window_count(&snapshot->window, work)))
            begin_phase(taking, PHASE_FIRST);
        return error;
    case PHASE_FIRST: /* the first batch is what is asked for next */
        if (!(error = find_first(snapshot, work)))
            begin_phase(taking, PHASE_NAMES);
        return error;
    case PHASE_NAMES:
        if (!(error = name_stacks(snapshot, taking, work)))
            begin_phase(taking, PHASE_ASK);
        return error;
    case PHASE_ASK:
        return ask_for_names(snapshot, taking, work);
    default:
        if (!(error = count_ticks(snapshot, taking, work)))
            begin_phase(taking, PHASE_DONE);
        return error;
    }
}

int snapshot_step(struct snapshot *snapshot, int64_t *work)
{
    struct taking *taking = snapshot->taking;

    if (!taking)
        return 0;
    while (taking->phase != PHASE_DONE) {
        int error = do_phase(snapshot, taking, work);

        if (error)
            return error;
    }
    taking_free(taking);
    snapshot->taking = NULL;
    return 0;
}

static int begin_snapshot(struct snapshot *snapshot, struct profile *profile,
                          const struct snapshot_window *window)
{
    struct span span = window_span(window);
    struct store_ask ask = { .process_id = window->process_id,
                             .first_us = span.first_us,
                             .last_us = span.last_us,
                             .serial_min = window->since ? window->since->chunk : 0 };
    int error = store_views(profile->stores.of[window->kind], &ask, &snapshot->views,
                            &snapshot->view_count, NULL);

    if (error)
        return error;
    window_choose_sources(snapshot->views, snapshot->view_count, window,
                          registry_names(profile->registry));
    snapshot->counted.period_us = snapshot->period_us;
    snapshot->counted.weighs = profile_settings(profile).mode == FEED_MODE_CPU;
    snapshot->counted.earliest_us = span.first_us > 0 ? span.first_us : 0;
    if (counted_open(&snapshot->counted, snapshot->views, snapshot->view_count) < 0)
        return -ISOSCOPE_NO_MEMORY;
    snapshot->taking = calloc(1, sizeof(*snapshot->taking));
    snapshot->chains = calloc((size_t)snapshot->view_count + 1, sizeof(*snapshot->chains));
    return snapshot->taking && snapshot->chains
               ? window_open(&snapshot->window, snapshot->views, snapshot->view_count, window)
               : -ISOSCOPE_NO_MEMORY;
}

int snapshot_begin(struct snapshot **out, struct profile *profile,
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
    snapshot->period_us = profile_settings(profile).period_us;
    snapshot->depth_max = profile_settings(profile).depth_max;
    snapshot->is_counted = window->counted;
    if (window->counted)
        snapshot->period_us =
            counted_period_us(profile, window->process_id, &snapshot->counted.alike);
    snapshot->tables.profile = profile;
    snapshot->tables.partial_names_ok = window->partial_names_ok;
    error = begin_snapshot(snapshot, profile, window);
    if (error)
        return error;
    *out = snapshot;
    snapshot = NULL;
    return 0;
}

int snapshot_take(struct snapshot **out, struct profile *profile,
                  const struct snapshot_window *window)
{
    CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
    int64_t work = INT64_MAX;
    int error = snapshot_begin(&snapshot, profile, window);

    if (error)
        return error;
    error = snapshot_step(snapshot, &work);
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
    counted_close(&snapshot->counted);
    window_close(&snapshot->window);
    free(snapshot->stack);
    taking_free(snapshot->taking);
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
    return snapshot->told;
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

struct snapshot_cursor snapshot_cursor(const struct snapshot *snapshot)
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

bool snapshot_ready(struct snapshot *snapshot, uint32_t cursor, int64_t *work)
{
    struct window *window = &snapshot->window;

    if (cursor >= snapshot->told)
        return true;
    if (snapshot->is_counted)
        return !counted_seek(&snapshot->counted, window, cursor, work);
    if (cursor < window->first)
        window_rewind(window);
    while (window->gathering || cursor >= window->first + window->count)
        if (window_gather(window, work))
            return false;
    return true;
}

/* A pick in one number. */
static uint32_t place_of(struct pick pick)
{
    return (uint32_t)pick.view << 16 | pick.sample;
}

/* Which one is told at cursor, and when. */
static struct pick told_at(struct snapshot *snapshot, uint32_t cursor, int64_t *time_us)
{
    const struct window *window = &snapshot->window;
    struct counted *counted = &snapshot->counted;
    struct pick pick;

    if (!snapshot->is_counted) {
        pick = window->picks[cursor - window->first];
        *time_us = pick_us(snapshot->views, pick);
        return pick;
    }
    *time_us = counted_us(counted, counted_apart_us(counted, window), cursor - counted->first,
                          counted->times);
    return window->picks[counted->looked_at - 1 - window->first];
}

bool snapshot_next(struct snapshot *snapshot, uint32_t *cursor, struct snapshot_sample *out)
{
    const struct store_view *view;
    const struct chunk_sample *sample;
    const struct view_source *source;
    int64_t work = INT64_MAX, time_us;
    struct pick pick;

    if (*cursor >= snapshot->told)
        return false;
    snapshot_ready(snapshot, *cursor, &work);
    pick = told_at(snapshot, (*cursor)++, &time_us);
    view = &snapshot->views[pick.view];
    sample = &view->chunk->samples[pick.sample];
    source = &view->sources[sample->source];
    *out = (struct snapshot_sample){
        .timestamp_us = time_us,
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
