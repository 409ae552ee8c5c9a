#include "live.h"

#include "../include/isoscope/isoscope.h"
#include "live_tables.h"
#include "parts.h"

#include <stdlib.h>

struct live {
    struct live_tables *tables; /* held */
    struct store_view *views;   /* hold the chunks */
    uint32_t view_count;
    struct live_part *parts; /* of the first views; part_count of them */
    uint32_t part_count;
    struct live_mark from, mark; /* from: all zeros after a reset */
    uint32_t sample_count;
    int32_t tid; /* 0: all */
    bool reset, more;

    /* While it is taken. */
    uint64_t count_max;
    bool available;
    struct live_reading reading;
    bool read; /* the tables have all frames */
};

static bool is_shown(const struct live *live, const struct store_view *view, uint32_t number)
{
    const struct view_source *source = &view->sources[view->chunk->samples[number].source];

    return number >= source->first_visible && (!live->tid || live->tid == source->tid);
}

static void drop_views(struct live *live, uint32_t count)
{
    struct store_view *kept = live->views + count;

    for (uint32_t i = 0; i < count; i++) {
        chunk_release(live->views[i].chunk);
        free(live->views[i].sources);
    }
    live->view_count -= count;
    for (uint32_t i = 0; i < live->view_count; i++)
        live->views[i] = kept[i];
}

/* Keeps the newest in any case: it is where the next reply goes on. */
static void drop_older(struct live *live, int64_t from_us)
{
    uint32_t count = 0;

    while (count + 1 < live->view_count && live->views[count].max_us < from_us)
        count++;
    drop_views(live, count);
}

static uint32_t first_since(const struct store_view *view, int64_t from_us)
{
    uint32_t number = 0;

    while (number < view->sample_count && chunk_sample_us(view->chunk, number) < from_us)
        number++;
    return number;
}

static bool goes_on(const struct live *live, const struct live_mark *mark,
                    const struct store_changes *changes)
{
    const struct tables *tables = &live->tables->tables;
    const struct store_view *view = live->views;

    if (mark->generation != live->tables->generation || mark->clears != changes->clears ||
        mark->libraries > tables->library_count || mark->functions > tables->function_count ||
        mark->frames > tables->chain_count || mark->renamed > live->tables->renamed_count)
        return false;
    if (!mark->tree)
        return true;
    return live->view_count && view->chunk->serial == mark->tree &&
           mark->nodes <= view->node_count && mark->threads <= view->source_count &&
           mark->samples <= view->sample_count;
}

static int take_views(struct live *live, struct profile *profile, const struct live_window *window,
                      struct store_changes *changes)
{
    struct store_ask ask = STORE_ASK_ALL;

    ask.process_id = window->process_id;
    ask.serial_min = live->from.tree;
    store_views_free(live->views, live->view_count);
    live->views = NULL;
    live->view_count = 0;
    return store_views(profile->store, &ask, &live->views, &live->view_count, changes);
}

/* The views from the mark on, or all of them where it is no good. */
static int find_views(struct live *live, struct profile *profile, const struct live_window *window,
                      struct store_changes *changes)
{
    live->from = window->mark;
    if (take_views(live, profile, window, changes) < 0)
        return -ISOSCOPE_NO_MEMORY;
    if (!window->mark.generation) {
        drop_older(live, window->from_us);
        if (live->view_count)
            live->from.samples = first_since(live->views, window->from_us);
        return 0;
    }
    if (goes_on(live, &window->mark, changes))
        return 0;
    live->reset = true;
    live->from = (struct live_mark){ 0 };
    return take_views(live, profile, window, changes);
}

/* Moves to->samples on; at most max of them are shown. */
static uint32_t take_samples(struct live *live, const struct store_view *view, struct live_part *to,
                             uint64_t max)
{
    uint32_t shown = 0;

    for (; to->end_sample < view->sample_count; to->end_sample++) {
        if (!is_shown(live, view, to->end_sample))
            continue;
        if (max && shown == max) {
            live->more = true;
            break;
        }
        shown++;
    }
    return shown;
}

static struct live_part part_of(const struct live *live, uint32_t number)
{
    const struct store_view *view = &live->views[number];
    bool first = number == 0;

    return (struct live_part){
        .tree = view->chunk->serial,
        .first_node = first && live->from.nodes ? live->from.nodes : 1,
        .end_node = view->node_count,
        .first_thread = first ? live->from.threads : 0,
        .end_thread = view->source_count,
        .first_sample = first ? live->from.samples : 0,
        .end_sample = first ? live->from.samples : 0,
    };
}

static bool has_all_asked(const struct live *live)
{
    return live->count_max && live->sample_count == live->count_max;
}

/* 1: call again. */
static int make_parts(struct live *live, int64_t *work)
{
    while (live->part_count < live->view_count && !live->more) {
        const struct store_view *view = &live->views[live->part_count];
        struct live_part *part = &live->parts[live->part_count];

        if (*work <= 0)
            return 1;
        if (has_all_asked(live)) {
            live->more = true;
            break;
        }
        *part = part_of(live, live->part_count++);
        work_off(work, view->sample_count - part->first_sample);
        live->sample_count += take_samples(
            live, view, part, live->count_max ? live->count_max - live->sample_count : 0);
    }
    return 0;
}

/* What the tables have now: of all that is told something is known. */
static void mark_tables(struct live *live)
{
    const struct tables *tables = &live->tables->tables;

    live->mark.generation = live->tables->generation;
    live->mark.libraries = tables->library_count;
    live->mark.functions = tables->function_count;
    live->mark.frames = tables->chain_count;
    live->mark.renamed = live->tables->renamed_count;
}

static void mark_samples(struct live *live)
{
    if (live->part_count) {
        const struct live_part *last = &live->parts[live->part_count - 1];

        live->mark.tree = last->tree;
        live->mark.nodes = last->end_node;
        live->mark.threads = last->end_thread;
        live->mark.samples = last->end_sample;
    }
}

static int begin(struct live *live, struct profile *profile, const struct live_window *window)
{
    struct live_tables *tables = live_tables_current(profile);
    struct store_changes changes;

    if (!tables)
        return -ISOSCOPE_NO_MEMORY;
    live->tables = live_tables_hold(tables);
    live->tid = window->tid;
    live->count_max = window->count_max;
    live->available = window->available;
    if (find_views(live, profile, window, &changes) < 0)
        return -ISOSCOPE_NO_MEMORY;
    live->mark.clears = changes.clears;
    live->mark.renames = changes.renames;
    if (live->from.renames != changes.renames)
        live->from.threads = 0;
    live->parts = calloc((size_t)live->view_count + 1, sizeof(*live->parts));
    return live->parts ? 0 : -ISOSCOPE_NO_MEMORY;
}

int live_begin(struct live **out, struct profile *profile, const struct live_window *window)
{
    struct live *live = NULL;
    struct process_info process;
    int error;

    if (window->process_id && !profile_process(profile, window->process_id, &process))
        return -ISOSCOPE_NOT_FOUND;
    live = calloc(1, sizeof(*live));
    error = live ? begin(live, profile, window) : -ISOSCOPE_NO_MEMORY;
    if (error) {
        live_free(live);
        return error;
    }
    *out = live;
    return 0;
}

static int read_tables(struct live *live, int64_t *work)
{
    int error = live_tables_read(live->tables, &live->reading, live->views, live->view_count,
                                 live->available, work);

    if (error)
        return error;
    mark_tables(live);
    live->read = true;
    return 0;
}

int live_step(struct live *live, int64_t *work)
{
    int error = live->read ? 0 : read_tables(live, work);

    if (error || (error = make_parts(live, work)))
        return error;
    mark_samples(live);
    return 0;
}

int live_take(struct live **out, struct profile *profile, const struct live_window *window)
{
    int64_t work = INT64_MAX;
    struct live *live;
    int error = live_begin(&live, profile, window);

    if (error)
        return error;
    error = live_step(live, &work);
    if (error) {
        live_free(live);
        return error;
    }
    *out = live;
    return 0;
}

void live_free(struct live *live)
{
    if (!live)
        return;
    live_tables_release(live->tables);
    store_views_free(live->views, live->view_count);
    free(live->parts);
    free(live);
}

bool live_reset(const struct live *live)
{
    return live->reset;
}

bool live_more(const struct live *live)
{
    return live->more;
}

struct live_mark live_mark(const struct live *live)
{
    return live->mark;
}

uint32_t live_sample_count(const struct live *live)
{
    return live->sample_count;
}

void live_libraries(const struct live *live, uint32_t *first, uint32_t *end)
{
    *first = live->from.libraries;
    *end = live->mark.libraries;
}

void live_functions(const struct live *live, uint32_t *first, uint32_t *end)
{
    *first = live->from.functions;
    *end = live->mark.functions;
}

void live_frames(const struct live *live, uint32_t *first, uint32_t *end)
{
    *first = live->from.frames;
    *end = live->mark.frames;
}

const struct snapshot_library *live_library(const struct live *live, uint32_t number)
{
    return &live->tables->tables.libraries[number];
}

const struct snapshot_function *live_function(const struct live *live, uint32_t number)
{
    return &live->tables->tables.functions[number];
}

const struct snapshot_frame *live_frame(const struct live *live, uint32_t number, uint32_t *length)
{
    struct table_chain chain = live_tables_chain(live->tables, number, live->mark.renamed);

    *length = chain.count;
    return &live->tables->tables.frames[chain.first];
}

void live_renamed(const struct live *live, uint32_t *first, uint32_t *end)
{
    *first = live->from.renamed;
    *end = live->mark.renamed;
}

bool live_renamed_frame(const struct live *live, uint32_t entry, uint32_t *frame)
{
    *frame = live->tables->renamed[entry].number;
    return *frame < live->from.frames;
}

uint32_t live_part_count(const struct live *live)
{
    return live->part_count;
}

struct live_part live_part(const struct live *live, uint32_t part)
{
    return live->parts[part];
}

static uint32_t frame_number(const struct live *live, const struct store_view *view, uint16_t frame)
{
    return live_tables_number(live->tables, view->chunk->frames[frame]);
}

struct live_node live_node(const struct live *live, uint32_t part, uint32_t node)
{
    const struct store_view *view = &live->views[part];
    struct chunk_node stored = view->chunk->nodes[node];

    return (struct live_node){ stored.parent, frame_number(live, view, stored.frame) };
}

struct live_thread live_thread(const struct live *live, uint32_t part, uint32_t thread)
{
    const struct view_source *source = &live->views[part].sources[thread];
    const struct registry *registry = live->tables->tables.profile->registry;

    return (struct live_thread){ source->process_id, source->tid, source->name,
                                 names_text(registry_names(registry), source->tag) };
}

bool live_sample(const struct live *live, uint32_t part, uint32_t number, struct live_sample *out)
{
    const struct store_view *view = &live->views[part];
    const struct chunk_sample *sample = &view->chunk->samples[number];

    if (!is_shown(live, view, number))
        return false;
    *out = (struct live_sample){ .timestamp_us = chunk_sample_us(view->chunk, number),
                                 .cpu_ns = chunk_sample_cpu_ns(view->chunk, number),
                                 .thread = sample->source,
                                 .caller = sample->caller,
                                 .frame = frame_number(live, view, sample->leaf),
                                 .end = (enum feed_end)sample->end,
                                 .state = sample->state };
    return true;
}
