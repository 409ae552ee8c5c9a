#include "../snapshot.h"

#include "../../feed/cleanup.h"
#include "../../include/isoscope/isoscope.h"
#include "../parts.h"
#include "taking.h"

#include <stdlib.h>

int snapshot_step(struct snapshot *snapshot, int64_t *work)
{
    int error = snapshot->taking ? taking_step(snapshot, snapshot->taking, work) : 0;

    if (error)
        return error;
    taking_free(snapshot->taking);
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
    int error = stores_show(&profile->stores, window->kind);

    if (error)
        return error;
    error = store_views(profile->stores.of[window->kind], &ask, &snapshot->views,
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
        .weight = chunk_sample_weight(view->chunk, pick.sample),
        .objects = chunk_sample_objects(view->chunk, pick.sample) / (double)CHUNK_OBJECT_PARTS,
        .wait = chunk_sample_wait(view->chunk, pick.sample),
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
