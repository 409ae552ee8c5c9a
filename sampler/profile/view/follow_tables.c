#include "follow_tables.h"

#include "../../include/isoscope/isoscope.h"
#include "../base/grow.h"

#include <stdlib.h>

/* Some 15 MiB. A profile that shows more of them at once may have twice what it shows. */
enum { FRAMES_MAX = 1 << 18, WORK_FRAME = 16, WORK_NEW_FRAME = 300 };

static struct follow_tables *begin_tables(struct profile *profile, uint32_t generation)
{
    struct follow_tables *tables = calloc(1, sizeof(*tables));

    if (!tables)
        return NULL;
    tables->references = 1;
    tables->generation = generation;
    tables->tables.profile = profile;
    follow_tables_release(profile->follow);
    profile->follow = tables;
    return tables;
}

struct follow_tables *follow_tables_current(struct profile *profile)
{
    const struct follow_tables *tables = profile->follow;

    if (!tables)
        return begin_tables(profile, 1);
    if (tables->frames_max && tables->tables.chain_count > tables->frames_max)
        return begin_tables(profile, tables->generation + 1);
    return profile->follow;
}

struct follow_tables *follow_tables_hold(struct follow_tables *tables)
{
    tables->references++;
    return tables;
}

void follow_tables_release(struct follow_tables *tables)
{
    if (!tables || --tables->references)
        return;
    tables_free(&tables->tables);
    map64_free(&tables->frames_read);
    free(tables->open);
    free(tables->renamed);
    free(tables);
}

static int add_frame(struct follow_tables *tables, uint64_t frame)
{
    uint32_t before = tables->tables.chain_count, number;

    if (tables_add(&tables->tables, frame, &number) < 0)
        return -ISOSCOPE_NO_MEMORY;
    if (tables->tables.chain_count == before || !tables->tables.chains[number].open)
        return 0;
    if (!GROW(tables->open, tables->open_count, tables->open_capacity))
        return -ISOSCOPE_NO_MEMORY;
    tables->open[tables->open_count++] = (struct follow_open){ frame, number };
    return 0;
}

static int look_again(struct follow_tables *tables, const struct follow_open *open)
{
    struct table_chain before = tables->tables.chains[open->number];
    bool changed;

    if (!GROW(tables->renamed, tables->renamed_count, tables->renamed_capacity) ||
        tables_again(&tables->tables, open->frame, open->number, &changed) < 0)
        return -ISOSCOPE_NO_MEMORY;
    if (changed && before.count) /* a frame of which nothing was known was told to nobody */
        tables->renamed[tables->renamed_count++] = (struct follow_renamed){ open->number, before };
    return 0;
}

static int look_at_open(struct follow_tables *tables)
{
    uint32_t kept = 0, error = 0;

    for (uint32_t i = 0; i < tables->open_count; i++) {
        error |= look_again(tables, &tables->open[i]) < 0;
        if (tables->tables.chains[tables->open[i].number].open)
            tables->open[kept++] = tables->open[i];
    }
    tables->open_count = kept;
    return error ? -ISOSCOPE_NO_MEMORY : 0;
}

/* The chunk's frame 0 is none. */
static void begin_chunk(const struct follow_tables *tables, struct follow_reading *reading,
                        const struct store_view *view)
{
    uint32_t first = map64_find(&tables->frames_read, view->chunk->serial);

    if (!reading->frame)
        reading->frame = first ? first : 1;
}

/* 1: call again. */
static int read_chunks(struct follow_tables *tables, struct follow_reading *reading,
                       const struct store_view *views, uint32_t count, int64_t *work)
{
    for (; reading->view < count; reading->view++, reading->frame = 0) {
        const struct store_view *view = &views[reading->view];
        int error;

        begin_chunk(tables, reading, view);
        if (reading->frame < view->frame_count && (error = store_load(view)) < 0)
            return error;
        for (; reading->frame < view->frame_count; reading->frame++) {
            uint32_t known = tables->tables.chain_count;

            if (*work <= 0)
                return 1;
            if (add_frame(tables, view->chunk->frames[reading->frame]) < 0)
                return -ISOSCOPE_NO_MEMORY;
            work_off(work, tables->tables.chain_count > known ? WORK_NEW_FRAME : WORK_FRAME);
        }
    }
    return 0;
}

static int mark_read(struct follow_tables *tables, const struct store_view *views, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        bool added;
        uint32_t *read = map64_put(&tables->frames_read, views[i].chunk->serial, &added);

        if (!read)
            return -ISOSCOPE_NO_MEMORY;
        *read = views[i].frame_count;
    }
    return 0;
}

static void set_bound(struct follow_tables *tables)
{
    uint32_t count = tables->tables.chain_count;

    if (!tables->frames_max)
        tables->frames_max = count > FRAMES_MAX / 2 ? 2 * count : FRAMES_MAX;
}

/* All frames of the views into the tables. */
static int add_frames(struct follow_tables *tables, struct follow_reading *reading,
                      const struct store_view *views, uint32_t count, int64_t *work)
{
    int error;

    do {
        if (!reading->begun && look_at_open(tables) < 0)
            return -ISOSCOPE_NO_MEMORY;
        reading->begun = true;
        if ((error = read_chunks(tables, reading, views, count, work)) ||
            (error = tables_ask(&tables->tables, work)))
            return error;
        *reading = (struct follow_reading){ 0 };
    } while (tables->tables.resolved);
    reading->added = true;
    return 0;
}

int follow_tables_read(struct follow_tables *tables, struct follow_reading *reading,
                       const struct store_view *views, uint32_t count, bool partial_names_ok,
                       int64_t *work)
{
    int error;

    tables->tables.partial_names_ok = partial_names_ok; /* other readers want it otherwise */
    if (!reading->added && (error = add_frames(tables, reading, views, count, work)))
        return error;
    /* All frames of the tables are told, also those of chunks that this reader has not asked for.
     */
    if (!partial_names_ok && tables->open_count)
        return -ISOSCOPE_PENDING;
    inline_chains_settle(tables->tables.profile->chains);
    set_bound(tables);
    return mark_read(tables, views, count);
}

uint32_t follow_tables_number(const struct follow_tables *tables, uint64_t frame)
{
    return map64_find(&tables->tables.by_frame, frame);
}

struct table_chain follow_tables_chain(const struct follow_tables *tables, uint32_t number,
                                       uint32_t renamed_count)
{
    for (uint32_t i = renamed_count; i < tables->renamed_count; i++)
        if (tables->renamed[i].number == number)
            return tables->renamed[i].before;
    return tables->tables.chains[number];
}
