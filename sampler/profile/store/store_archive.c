#include "store_state.h"

static void count_archived(const struct chunk *chunk, const uint32_t *states)
{
    for (uint32_t i = 0; i < chunk->source_count; i++)
        for (uint8_t state = 0; state < OWNER_STATES; state++)
            count_samples(chunk->sources[i].thread, state, states[i * OWNER_STATES + state]);
}

/* With the lock. */
static int add_archived(struct store *store, struct chunk *outline, const uint32_t *states)
{
    struct chunk *chunk;

    if (store_reserve_chunk(store) < 0)
        return -ISOSCOPE_NO_MEMORY;
    outline->kind = store->kind;
    outline->serial = store->serial;
    outline->first_sequence = store->sequence;
    if (chunk_archived(&chunk, outline) < 0)
        return -ISOSCOPE_NO_MEMORY;
    store->serial += SAMPLE_KINDS;
    store->sequence += chunk->sample_count;
    store->chunks[store->chunk_count++] = chunk;
    store->closed_bytes += chunk_bytes(chunk);
    count_archived(chunk, states);
    return 0;
}

int store_add_archived(struct store *store, struct chunk *outline, const uint32_t *states)
{
    int error;

    pthread_mutex_lock(&store->lock);
    error = add_archived(store, outline, states);
    pthread_mutex_unlock(&store->lock);
    if (error)
        free(outline->sources);
    return error;
}

/* The one that nobody holds, and that was looked at before all others; NULL: there is none. With
 * both locks. */
static struct chunk *least_looked_at(const struct store *store)
{
    struct chunk *least = NULL;

    for (uint32_t i = 0; i < store->chunk_count; i++) {
        struct chunk *chunk = store->chunks[i];

        if (chunk->looked_at && atomic_load(&chunk->references) == 1 &&
            (!least || chunk->looked_at < least->looked_at))
            least = chunk;
    }
    return least;
}

/* With the loading lock. */
static void keep_loaded_bound(struct store *store)
{
    struct chunk *chunk;

    if (store->loaded_bytes <= store->bytes_max)
        return;
    pthread_mutex_lock(&store->lock);
    while (store->loaded_bytes > store->bytes_max && (chunk = least_looked_at(store))) {
        chunk_unload(chunk);
        chunk->looked_at = 0;
        store->loaded_bytes -= chunk_bytes(chunk);
    }
    pthread_mutex_unlock(&store->lock);
}

/* With the loading lock. */
static int load(struct store *store, struct chunk *chunk)
{
    int error = chunk->looked_at ? 0 : chunk_load(chunk);

    if (error)
        return error;
    if (!chunk->looked_at)
        store->loaded_bytes += chunk_bytes(chunk);
    chunk->looked_at = ++store->looks;
    keep_loaded_bound(store);
    return 0;
}

void store_unload(struct store *store)
{
    pthread_mutex_lock(&store->loading);
    keep_loaded_bound(store);
    pthread_mutex_unlock(&store->loading);
}

int store_load(const struct store_view *view)
{
    struct store *store = view->store;
    int error;

    if (!view->chunk->archive)
        return 0;
    pthread_mutex_lock(&store->loading);
    error = load(store, view->chunk);
    pthread_mutex_unlock(&store->loading);
    return error;
}
