#include "live_tables.h"

#include "../include/isoscope/isoscope.h"

#include <stdlib.h>

/* Some 15 MiB. A profile that shows more of them at once may have twice what it shows. */
enum { FRAMES_MAX = 1 << 18 };

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
    free(tables);
}

static int read_chunk(struct live_tables *tables, const struct store_view *view)
{
    uint32_t first = map64_find(&tables->frames_read, view->chunk->serial), number;

    /* The chunk's frame 0 is none. */
    for (uint32_t frame = first ? first : 1; frame < view->frame_count; frame++)
        if (tables_add(&tables->tables, view->chunk->frames[frame], &number) < 0)
            return -ISOSCOPE_NO_MEMORY;
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

int live_tables_read(struct live_tables *tables, const struct store_view *views, uint32_t count)
{
    int asked;

    do {
        tables->tables.pending = false;
        for (uint32_t i = 0; i < count; i++)
            if (read_chunk(tables, &views[i]) < 0)
                return -ISOSCOPE_NO_MEMORY;
        asked = tables_ask(&tables->tables);
    } while (asked > 0);
    if (asked < 0)
        return asked;
    if (tables->tables.pending)
        return -ISOSCOPE_PENDING;
    chains_settle(tables->tables.profile->chains);
    set_bound(tables);
    return mark_read(tables, views, count);
}

uint32_t live_tables_number(const struct live_tables *tables, uint64_t frame)
{
    return map64_find(&tables->tables.by_frame, frame);
}
