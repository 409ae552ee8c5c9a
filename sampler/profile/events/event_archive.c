#include "event_store_state.h"

/* With the lock. */
static int add_archived(struct event_store *store, struct event_chunk *outline,
                        const uint32_t *counts)
{
    struct event_chunk *chunk;

    if (!GROW(store->chunks, store->chunk_count, store->chunk_capacity))
        return -ISOSCOPE_NO_MEMORY;
    outline->serial = store->serial;
    outline->first_sequence = store->sequence;
    if (event_chunk_archived(&chunk, outline) < 0)
        return -ISOSCOPE_NO_MEMORY;
    store->serial++;
    store->sequence += chunk->count;
    store->events += chunk->count;
    store->chunks[store->chunk_count++] = chunk;
    store->closed_bytes += event_chunk_bytes(chunk);
    for (uint32_t i = 0; i < chunk->source_count; i++)
        chunk->sources[i].thread->owner->samples += counts[i];
    return 0;
}

int event_store_add_archived(struct event_store *store, struct event_chunk *outline,
                             const uint32_t *counts)
{
    int error;

    pthread_mutex_lock(&store->lock);
    error = add_archived(store, outline, counts);
    pthread_mutex_unlock(&store->lock);
    if (error)
        free(outline->sources);
    return error;
}

void event_store_restore(struct event_store *store, const struct timeline_history *missed)
{
    pthread_mutex_lock(&store->lock);
    store->evicted += missed->evicted;
    store->unstored += missed->unstored;
    store->unmatched += missed->unmatched;
    store->cut_off += missed->cut_off;
    store->too_deep += missed->too_deep;
    store->backward += missed->backward;
    pthread_mutex_unlock(&store->lock);
}

/* The one that nobody holds, and that was looked at before all others; NULL: there is none. With
 * both locks. */
static struct event_chunk *least_looked_at(const struct event_store *store)
{
    struct event_chunk *least = NULL;

    for (uint32_t i = 0; i < store->chunk_count; i++) {
        struct event_chunk *chunk = store->chunks[i];

        if (chunk->looked_at && atomic_load(&chunk->references) == 1 &&
            (!least || chunk->looked_at < least->looked_at))
            least = chunk;
    }
    return least;
}

/* With the loading lock. */
static void keep_loaded_bound(struct event_store *store)
{
    struct event_chunk *chunk;

    if (store->loaded_bytes <= store->bytes_max)
        return;
    pthread_mutex_lock(&store->lock);
    while (store->loaded_bytes > store->bytes_max && (chunk = least_looked_at(store))) {
        store->loaded_bytes -= event_chunk_bytes(chunk);
        event_chunk_unload(chunk);
        chunk->looked_at = 0;
    }
    pthread_mutex_unlock(&store->lock);
}

/* With the loading lock. */
static int load(struct event_store *store, struct event_chunk *chunk)
{
    int error = chunk->looked_at ? 0 : event_chunk_load(chunk);

    if (error)
        return error;
    if (!chunk->looked_at)
        store->loaded_bytes += event_chunk_bytes(chunk);
    chunk->looked_at = ++store->looks;
    keep_loaded_bound(store);
    return 0;
}

void event_store_unload(struct event_store *store)
{
    pthread_mutex_lock(&store->loading);
    keep_loaded_bound(store);
    pthread_mutex_unlock(&store->loading);
}

int event_view_load(const struct event_view *view)
{
    struct event_store *store = view->store;
    int error;

    if (!view->chunk->archive)
        return 0;
    pthread_mutex_lock(&store->loading);
    error = load(store, view->chunk);
    pthread_mutex_unlock(&store->loading);
    return error;
}
