#include "live_tables.h"

#include "../include/isoscope/isoscope.h"

#include <stdlib.h>

/* Some 15 MiB. A profile that shows more of them at once may have twice what it shows. */
enum { FRAMES_MAX = 1 << 18, WORK_FRAME = 16, WORK_NEW_FRAME = 300 };

static struct live_tables *begin(struct profile *profile, uint32_t generation)
{
    struct live_tables *tables = calloc(1, sizeof(*tables));

    if (!tables)
        return NULL;
    tables->references = 1;
    tables->generation = generation;
    tables->tables.profile = profile;
    live_tables_release(profile->live);
    profile->live = tables;
    return tables;
}

struct live_tables *live_tables_current(struct profile *profile)
{
    const struct live_tables *tables = profile->live;

    if (!tables)
        return begin(profile, 1);
    if (tables->frames_max && tables->tables.chain_count > tables->frames_max)
        return begin(profile, tables->generation + 1);
    return profile->live;
}

struct live_tables *live_tables_hold(struct live_tables *tables)
{
    tables->references++;
    return tables;
}

void live_tables_release(struct live_tables *tables)
{
    if (!tables || --tables->references)
        return;
    tables_free(&tables->tables);
    map64_free(&tables->frames_read);
    free(tables->open);
    free(tables->renamed);
    free(tables);
}

/* Makes room for one more; false: no memory. */
static bool grow(void **array, uint32_t count, uint32_t *capacity, size_t entry_bytes)
{
    uint32_t larger = *capacity ? *capacity * 2 : 64;
    void *moved;

    if (count < *capacity)
        return true;
    moved = reallocarray(*array, larger, entry_bytes);
    if (!moved)
        return false;
    *array = moved;
    *capacity = larger;
    return true;
}

static int add_frame(struct live_tables *tables, uint64_t frame)
{
    uint32_t before = tables->tables.chain_count, number;

    if (tables_add(&tables->tables, frame, &number) < 0)
        return -ISOSCOPE_NO_MEMORY;
    if (tables->tables.chain_count == before || !tables->tables.chains[number].open)
        return 0;
    if (!grow((void **)&tables->open, tables->open_count, &tables->open_capacity,
              sizeof(*tables->open)))
        return -ISOSCOPE_NO_MEMORY;
    tables->open[tables->open_count++] = (struct live_open){ frame, number };
    return 0;
}

static int look_again(struct live_tables *tables, const struct live_open *open)
{
    struct table_chain before = tables->tables.chains[open->number];
    bool changed;

    if (!grow((void **)&tables->renamed, tables->renamed_count, &tables->renamed_capacity,
              sizeof(*tables->renamed)) ||
        tables_again(&tables->tables, open->frame, open->number, &changed) < 0)
        return -ISOSCOPE_NO_MEMORY;
    if (changed && before.count) /* a frame of which nothing was known was told to nobody */
        tables->renamed[tables->renamed_count++] = (struct live_renamed){ open->number, before };
    return 0;
}

static int look_at_open(struct live_tables *tables)
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
static void begin_chunk(const struct live_tables *tables, struct live_reading *reading,
                        const struct store_view *view)
{
    uint32_t first = map64_find(&tables->frames_read, view->chunk->serial);

    if (!reading->frame)
        reading->frame = first ? first : 1;
}

/* 1: call again. */
static int read_chunks(struct live_tables *tables, struct live_reading *reading,
                       const struct store_view *views, uint32_t count, int64_t *work)
{
    for (; reading->view < count; reading->view++, reading->frame = 0) {
        const struct store_view *view = &views[reading->view];

        begin_chunk(tables, reading, view);
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

static int mark_read(struct live_tables *tables, const struct store_view *views, uint32_t count)
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

static void set_bound(struct live_tables *tables)
{
    uint32_t count = tables->tables.chain_count;

    if (!tables->frames_max)
        tables->frames_max = count > FRAMES_MAX / 2 ? 2 * count : FRAMES_MAX;
}

/* All frames of the views into the tables. */
static int add_frames(struct live_tables *tables, struct live_reading *reading,
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
        *reading = (struct live_reading){ 0 };
    } while (tables->tables.resolved);
    reading->added = true;
    return 0;
}

int live_tables_read(struct live_tables *tables, struct live_reading *reading,
                     const struct store_view *views, uint32_t count, bool available, int64_t *work)
{
    int error;

    tables->tables.available = available; /* other readers want it otherwise */
    if (!reading->added && (error = add_frames(tables, reading, views, count, work)))
        return error;
    /* All frames of the tables are told, also those of chunks that this reader has not asked for.
     */
    if (!available && tables->open_count)
        return -ISOSCOPE_PENDING;
    chains_settle(tables->tables.profile->chains);
    set_bound(tables);
    return mark_read(tables, views, count);
}

uint32_t live_tables_number(const struct live_tables *tables, uint64_t frame)
{
    return map64_find(&tables->tables.by_frame, frame);
}

struct table_chain live_tables_chain(const struct live_tables *tables, uint32_t number,
                                     uint32_t renamed_count)
{
    for (uint32_t i = renamed_count; i < tables->renamed_count; i++)
        if (tables->renamed[i].number == number)
            return tables->renamed[i].before;
    return tables->tables.chains[number];
}
