#include "store_state.h"

#include <string.h>

static int view_chunk(struct store *store, struct store_view *view, struct chunk *chunk,
                      uint64_t process_id)
{
    struct view_source *sources = calloc(chunk->source_count + 1, sizeof(*sources));

    if (!sources)
        return -ISOSCOPE_NO_MEMORY;
    for (uint32_t i = 0; i < chunk->source_count; i++) {
        const struct owner_thread *thread = chunk->sources[i].thread;
        bool asked_for = process_id == 0 || process_id == thread->owner->process_id;

        sources[i].process_id = thread->owner->process_id;
        sources[i].tid = thread->tid;
        sources[i].tag = chunk->sources[i].tag;
        sources[i].last = chunk->sources[i].last;
        memcpy(sources[i].name, thread->name, sizeof(sources[i].name));
        sources[i].first_visible = asked_for ? first_visible(chunk, thread) : UINT32_MAX;
    }
    *view = (struct store_view){ .store = store,
                                 .chunk = chunk_hold(chunk),
                                 .sample_count = chunk->sample_count,
                                 .node_count = chunk->node_count,
                                 .frame_count = chunk->frame_count,
                                 .source_count = chunk->source_count,
                                 .min_us = chunk->min_us,
                                 .max_us = chunk->max_us,
                                 .sources = sources };
    return 0;
}

static bool is_asked(const struct chunk *chunk, const struct store_ask *ask)
{
    /* Who has read a part of what it was made of would get some of it twice. */
    if (chunk->made_of && ask->serial_min >= chunk->made_of && ask->serial_min < chunk->serial)
        return false;
    return chunk->serial >= ask->serial_min && chunk->min_us <= ask->last_us &&
           chunk->max_us >= ask->first_us;
}

/* Returns how many of the views are filled. */
static uint32_t view_chunks(struct store *store, const struct store_ask *ask,
                            struct store_view *views, int *error)
{
    uint32_t done = 0;

    for (uint32_t i = 0; i < store->chunk_count && !*error; i++) {
        if (!is_asked(store->chunks[i], ask))
            continue;
        *error = view_chunk(store, &views[done], store->chunks[i], ask->process_id);
        done += !*error;
    }
    return done;
}

int store_views(struct store *store, const struct store_ask *ask, struct store_view **out,
                uint32_t *count, struct store_changes *changes)
{
    struct store_view *views;
    uint32_t done = 0;
    int error = 0;

    pthread_mutex_lock(&store->lock);
    views = calloc(store->chunk_count + 1, sizeof(*views));
    if (views)
        done = view_chunks(store, ask, views, &error);
    if (changes)
        *changes = store->changes;
    pthread_mutex_unlock(&store->lock);
    if (!views || error) {
        store_views_free(views, done);
        return -ISOSCOPE_NO_MEMORY;
    }
    *out = views;
    *count = done;
    return 0;
}

void store_views_free(struct store_view *views, uint32_t count)
{
    struct store *store = views && count ? views->store : NULL;

    if (!views)
        return;
    for (uint32_t i = 0; i < count; i++) {
        chunk_release(views[i].chunk);
        free(views[i].sources);
    }
    free(views);
    if (store)
        store_unload(store);
}
