#include "../follow.h"

#include "../../include/isoscope/isoscope.h"
#include "../parts.h"
#include "follow_tables.h"

#include <stdlib.h>

struct follow {
    struct follow_tables *tables; /* held */
    struct store_view *views;     /* hold the chunks */
    uint32_t view_count;
    struct chunk_delta *parts; /* of the first views; part_count of them */
    uint32_t part_count;
    struct follow_cursor from, cursor; /* from: all zeros after a reset */
    uint32_t sample_count;
    int32_t tid; /* 0: all */
    bool reset, more;
    bool left_out; /* views behind those of count_max samples */

    /* While it is taken. */
    uint64_t count_max;
    bool partial_names_ok;
    struct follow_reading reading;
    bool read; /* the tables have all frames */
};

static bool is_shown(const struct follow *follow, const struct store_view *view, uint32_t number)
{
    const struct view_source *source = &view->sources[view->chunk->samples[number].source];

    return number >= source->first_visible && (!follow->tid || follow->tid == source->tid);
}

static void drop_views(struct follow *follow, uint32_t count)
{
    struct store_view *kept = follow->views + count;

    for (uint32_t i = 0; i < count; i++) {
        chunk_release(follow->views[i].chunk);
        free(follow->views[i].sources);
    }
    follow->view_count -= count;
    for (uint32_t i = 0; i < follow->view_count; i++)
        follow->views[i] = kept[i];
}

/* Keeps the newest in any case: it is where the next reply goes on. */
static void drop_older(struct follow *follow, int64_t from_us)
{
    uint32_t count = 0;

    while (count + 1 < follow->view_count && follow->views[count].max_us < from_us)
        count++;
    drop_views(follow, count);
}

/* What this reply has no room for is not looked at. */
static void keep_needed(struct follow *follow)
{
    uint64_t samples = 0;
    uint32_t kept = 0;

    while (kept < follow->view_count && (!follow->count_max || samples <= follow->count_max)) {
        samples += follow->views[kept].sample_count - (kept ? 0 : follow->from.samples);
        kept++;
    }
    follow->left_out = kept < follow->view_count;
    for (uint32_t i = kept; i < follow->view_count; i++) {
        chunk_release(follow->views[i].chunk);
        free(follow->views[i].sources);
    }
    follow->view_count = kept;
}

static uint32_t first_since(const struct store_view *view, int64_t from_us)
{
    uint32_t number = 0;

    while (number < view->sample_count && chunk_sample_us(view->chunk, number) < from_us)
        number++;
    return number;
}

static bool goes_on(const struct follow *follow, const struct follow_cursor *cursor,
                    const struct store_changes *changes)
{
    const struct tables *tables = &follow->tables->tables;
    const struct store_view *view = follow->views;

    if (cursor->generation != follow->tables->generation || cursor->clears != changes->clears ||
        cursor->libraries > tables->library_count || cursor->functions > tables->function_count ||
        cursor->frames > tables->chain_count || cursor->renamed > follow->tables->renamed_count)
        return false;
    if (!cursor->tree)
        return true;
    return follow->view_count && view->chunk->serial == cursor->tree &&
           cursor->nodes <= view->node_count && cursor->threads <= view->source_count &&
           cursor->samples <= view->sample_count;
}

static int take_views(struct follow *follow, struct profile *profile,
                      const struct follow_window *window, struct store_changes *changes)
{
    struct store_ask ask = STORE_ASK_ALL;

    ask.process_id = window->process_id;
    ask.serial_min = follow->from.tree;
    store_views_free(follow->views, follow->view_count);
    follow->views = NULL;
    follow->view_count = 0;
    if (stores_show(&profile->stores, window->kind) < 0)
        return -ISOSCOPE_NO_MEMORY;
    return store_views(profile->stores.of[window->kind], &ask, &follow->views, &follow->view_count,
                       changes);
}

/* The views from the cursor on, or all of them where it is no good. */
static int find_views(struct follow *follow, struct profile *profile,
                      const struct follow_window *window, struct store_changes *changes)
{
    int error;

    follow->from = window->cursor;
    if (take_views(follow, profile, window, changes) < 0)
        return -ISOSCOPE_NO_MEMORY;
    if (!window->cursor.generation) {
        drop_older(follow, window->from_us);
        if (!follow->view_count)
            return 0;
        if ((error = store_load(follow->views)) < 0)
            return error;
        follow->from.samples = first_since(follow->views, window->from_us);
        return 0;
    }
    if (goes_on(follow, &window->cursor, changes))
        return 0;
    follow->reset = true;
    follow->from = (struct follow_cursor){ 0 };
    return take_views(follow, profile, window, changes);
}

/* Moves to->samples on; at most max of them are shown. */
static uint32_t take_samples(struct follow *follow, const struct store_view *view,
                             struct chunk_delta *to, uint64_t max)
{
    uint32_t shown = 0;

    for (; to->end_sample < view->sample_count; to->end_sample++) {
        if (!is_shown(follow, view, to->end_sample))
            continue;
        if (max && shown == max) {
            follow->more = true;
            break;
        }
        shown++;
    }
    return shown;
}

static struct chunk_delta part_of(const struct follow *follow, uint32_t number)
{
    const struct store_view *view = &follow->views[number];
    bool first = number == 0;

    return (struct chunk_delta){
        .tree = view->chunk->serial,
        .first_node = first && follow->from.nodes ? follow->from.nodes : 1,
        .end_node = view->node_count,
        .first_thread = first ? follow->from.threads : 0,
        .end_thread = view->source_count,
        .first_sample = first ? follow->from.samples : 0,
        .end_sample = first ? follow->from.samples : 0,
    };
}

static bool has_all_asked(const struct follow *follow)
{
    return follow->count_max && follow->sample_count == follow->count_max;
}

/* 1: call again. */
static int make_parts(struct follow *follow, int64_t *work)
{
    int error;

    while (follow->part_count < follow->view_count && !follow->more) {
        const struct store_view *view = &follow->views[follow->part_count];
        struct chunk_delta *part = &follow->parts[follow->part_count];

        if (*work <= 0)
            return 1;
        if (has_all_asked(follow)) {
            follow->more = true;
            break;
        }
        if ((error = store_load(view)) < 0)
            return error;
        *part = part_of(follow, follow->part_count++);
        work_off(work, view->sample_count - part->first_sample);
        follow->sample_count += take_samples(
            follow, view, part, follow->count_max ? follow->count_max - follow->sample_count : 0);
    }
    follow->more |= follow->left_out;
    return 0;
}

/* What the tables have now: of all that is told something is known. */
static void mark_tables(struct follow *follow)
{
    const struct tables *tables = &follow->tables->tables;

    follow->cursor.generation = follow->tables->generation;
    follow->cursor.libraries = tables->library_count;
    follow->cursor.functions = tables->function_count;
    follow->cursor.frames = tables->chain_count;
    follow->cursor.renamed = follow->tables->renamed_count;
}

static void mark_samples(struct follow *follow)
{
    if (follow->part_count) {
        const struct chunk_delta *last = &follow->parts[follow->part_count - 1];

        follow->cursor.tree = last->tree;
        follow->cursor.nodes = last->end_node;
        follow->cursor.threads = last->end_thread;
        follow->cursor.samples = last->end_sample;
    }
}

static int begin_follow(struct follow *follow, struct profile *profile,
                        const struct follow_window *window)
{
    struct follow_tables *tables = follow_tables_current(profile);
    struct store_changes changes;
    int error;

    if (!tables)
        return -ISOSCOPE_NO_MEMORY;
    follow->tables = follow_tables_hold(tables);
    follow->tid = window->tid;
    follow->count_max = window->count_max;
    follow->partial_names_ok = window->partial_names_ok;
    if ((error = find_views(follow, profile, window, &changes)) < 0)
        return error;
    keep_needed(follow);
    follow->cursor.clears = changes.clears;
    follow->cursor.renames = changes.renames;
    if (follow->from.renames != changes.renames)
        follow->from.threads = 0;
    follow->parts = calloc((size_t)follow->view_count + 1, sizeof(*follow->parts));
    return follow->parts ? 0 : -ISOSCOPE_NO_MEMORY;
}

int follow_begin(struct follow **out, struct profile *profile, const struct follow_window *window)
{
    struct follow *follow = NULL;
    struct process_info process;
    int error;

    if (window->process_id && !profile_process(profile, window->process_id, &process))
        return -ISOSCOPE_NOT_FOUND;
    follow = calloc(1, sizeof(*follow));
    error = follow ? begin_follow(follow, profile, window) : -ISOSCOPE_NO_MEMORY;
    if (error) {
        follow_free(follow);
        return error;
    }
    *out = follow;
    return 0;
}

static int read_tables(struct follow *follow, int64_t *work)
{
    int error = follow_tables_read(follow->tables, &follow->reading, follow->views,
                                   follow->view_count, follow->partial_names_ok, work);

    if (error)
        return error;
    mark_tables(follow);
    follow->read = true;
    return 0;
}

int follow_step(struct follow *follow, int64_t *work)
{
    int error = follow->read ? 0 : read_tables(follow, work);

    if (error || (error = make_parts(follow, work)))
        return error;
    mark_samples(follow);
    return 0;
}

int follow_take(struct follow **out, struct profile *profile, const struct follow_window *window)
{
    int64_t work = INT64_MAX;
    struct follow *follow;
    int error = follow_begin(&follow, profile, window);

    if (error)
        return error;
    error = follow_step(follow, &work);
    if (error) {
        follow_free(follow);
        return error;
    }
    *out = follow;
    return 0;
}

void follow_free(struct follow *follow)
{
    if (!follow)
        return;
    follow_tables_release(follow->tables);
    store_views_free(follow->views, follow->view_count);
    free(follow->parts);
    free(follow);
}

bool follow_reset(const struct follow *follow)
{
    return follow->reset;
}

bool follow_more(const struct follow *follow)
{
    return follow->more;
}

struct follow_cursor follow_cursor(const struct follow *follow)
{
    return follow->cursor;
}

uint32_t follow_sample_count(const struct follow *follow)
{
    return follow->sample_count;
}

void follow_libraries(const struct follow *follow, uint32_t *first, uint32_t *end)
{
    *first = follow->from.libraries;
    *end = follow->cursor.libraries;
}

void follow_functions(const struct follow *follow, uint32_t *first, uint32_t *end)
{
    *first = follow->from.functions;
    *end = follow->cursor.functions;
}

void follow_frames(const struct follow *follow, uint32_t *first, uint32_t *end)
{
    *first = follow->from.frames;
    *end = follow->cursor.frames;
}

const struct snapshot_library *follow_library(const struct follow *follow, uint32_t number)
{
    return &follow->tables->tables.libraries[number];
}

const struct snapshot_function *follow_function(const struct follow *follow, uint32_t number)
{
    return &follow->tables->tables.functions[number];
}

const struct snapshot_frame *follow_frame(const struct follow *follow, uint32_t number,
                                          uint32_t *length)
{
    struct table_chain chain = follow_tables_chain(follow->tables, number, follow->cursor.renamed);

    *length = chain.count;
    return &follow->tables->tables.frames[chain.first];
}

void follow_renamed(const struct follow *follow, uint32_t *first, uint32_t *end)
{
    *first = follow->from.renamed;
    *end = follow->cursor.renamed;
}

bool follow_renamed_frame(const struct follow *follow, uint32_t entry, uint32_t *frame)
{
    *frame = follow->tables->renamed[entry].number;
    return *frame < follow->from.frames;
}

uint32_t chunk_delta_count(const struct follow *follow)
{
    return follow->part_count;
}

struct chunk_delta chunk_delta(const struct follow *follow, uint32_t part)
{
    return follow->parts[part];
}

static uint32_t frame_number(const struct follow *follow, const struct store_view *view,
                             uint16_t frame)
{
    return follow_tables_number(follow->tables, view->chunk->frames[frame]);
}

struct follow_node follow_node(const struct follow *follow, uint32_t part, uint32_t node)
{
    const struct store_view *view = &follow->views[part];
    struct chunk_node stored = view->chunk->nodes[node];

    return (struct follow_node){ stored.parent, frame_number(follow, view, stored.frame) };
}

struct follow_thread follow_thread(const struct follow *follow, uint32_t part, uint32_t thread)
{
    const struct view_source *source = &follow->views[part].sources[thread];
    const struct registry *registry = follow->tables->tables.profile->registry;

    return (struct follow_thread){ source->process_id, source->tid, source->name,
                                   names_text(registry_names(registry), source->tag) };
}

bool follow_sample(const struct follow *follow, uint32_t part, uint32_t number,
                   struct follow_sample *out)
{
    const struct store_view *view = &follow->views[part];
    const struct chunk_sample *sample = &view->chunk->samples[number];

    if (!is_shown(follow, view, number))
        return false;
    *out = (struct follow_sample){ .timestamp_us = chunk_sample_us(view->chunk, number),
                                   .weight = chunk_sample_weight(view->chunk, number),
                                   .objects = chunk_sample_objects(view->chunk, number) /
                                              (double)CHUNK_OBJECT_PARTS,
                                   .wait = chunk_sample_wait(view->chunk, number),
                                   .thread = sample->source,
                                   .caller = sample->caller,
                                   .frame = frame_number(follow, view, sample->leaf),
                                   .end = (enum feed_end)sample->end,
                                   .state = sample->state };
    return true;
}
