#include "event_store_state.h"

#include <stdio.h>

/* A chunk may take this part of the bound, so that an eviction is never felt. */
enum { CHUNKS_PER_BOUND = 8 };

int event_store_new(struct event_store **out, size_t bytes_max)
{
    struct event_store *store = calloc(1, sizeof(*store));

    if (!store)
        return -ISOSCOPE_NO_MEMORY;
    pthread_mutex_init(&store->loading, NULL);
    pthread_mutex_init(&store->lock, NULL);
    store->bytes_max = bytes_max ? bytes_max : EVENT_STORE_BYTES_DEFAULT;
    if (store->bytes_max < EVENT_STORE_BYTES_MIN)
        store->bytes_max = EVENT_STORE_BYTES_MIN;
    store->serial = 1;
    *out = store;
    return 0;
}

void event_store_free(struct event_store *store)
{
    struct track *track;

    if (!store)
        return;
    while ((track = store->tracks)) {
        track_unlink(track);
        track_free(track);
    }
    for (uint32_t i = 0; i < store->chunk_count; i++)
        event_chunk_release(store->chunks[i]);
    free(store->chunks);
    event_index_free(&store->index);
    pthread_mutex_destroy(&store->lock);
    pthread_mutex_destroy(&store->loading);
    free(store);
}

static struct event_chunk *newest(const struct event_store *store)
{
    return store->chunks[store->chunk_count - 1];
}

static void close_chunk(struct event_store *store)
{
    if (!store->open)
        return;
    store->closed_bytes += event_chunk_bytes(newest(store));
    store->open = false;
    event_index_free(&store->index);
}

static int begin_chunk(struct event_store *store, int64_t base_ns)
{
    close_chunk(store);
    if (!GROW(store->chunks, store->chunk_count, store->chunk_capacity) ||
        event_chunk_new(&store->chunks[store->chunk_count], store->serial, store->sequence,
                        base_ns) < 0)
        return -ISOSCOPE_NO_MEMORY;
    store->serial++;
    store->chunk_count++;
    store->open = true;
    return 0;
}

static size_t bytes_now(const struct event_store *store)
{
    return sizeof(*store) + store->closed_bytes + event_index_bytes(&store->index) +
           (store->open ? event_chunk_bytes(newest(store)) : 0);
}

static void count_evicted(struct event_store *store, const struct event_chunk *chunk)
{
    for (uint32_t i = 0; i < chunk->count; i++) {
        struct owner *owner = chunk->sources[chunk->entries[i].source].thread->owner;

        if (i < event_first_visible(chunk, owner))
            continue;
        owner->samples--;
        owner->evicted++;
        store->events--;
        store->evicted++;
    }
}

static void remove_chunk(struct event_store *store, uint32_t number)
{
    struct event_chunk *chunk = store->chunks[number];

    if (number == store->chunk_count - 1 && store->open) {
        store->open = false;
        event_index_free(&store->index);
    } else {
        store->closed_bytes -= event_chunk_bytes(chunk);
    }
    memmove(&store->chunks[number], &store->chunks[number + 1],
            (store->chunk_count - number - 1) * sizeof(struct event_chunk *));
    store->chunk_count--;
    event_chunk_release(chunk);
}

/* What it takes is looked at now and then: a chunk grows slowly. */
static void keep_bound(struct event_store *store)
{
    if (store->open && newest(store)->filled % EVENT_BLOCK)
        return;
    if (store->open && event_chunk_bytes(newest(store)) >= store->bytes_max / CHUNKS_PER_BOUND)
        close_chunk(store);
    while (store->chunk_count > 1 && bytes_now(store) > store->bytes_max) {
        count_evicted(store, store->chunks[0]);
        remove_chunk(store, 0);
    }
}

/* Where the newest chunk has the track with the stream. */
static int source_of(struct event_store *store, struct track *track,
                     const struct event_word *stream, uint16_t *out)
{
    struct event_chunk *chunk = newest(store);
    int error;

    if (stream->key && track->chunk_serial == chunk->serial && track->stream_key == stream->key) {
        *out = track->source;
        return 0;
    }
    error = event_chunk_source(chunk, &store->index, track->thread, stream, out);
    if (error)
        return error;
    track->chunk_serial = chunk->serial;
    track->stream_key = stream->key;
    track->source = *out;
    return 0;
}

static void count_event(struct event_store *store, struct track *track, const struct event *event)
{
    struct event_chunk *chunk = newest(store);
    bool lasts = event->kind == TIMELINE_SLICE || event->kind == TIMELINE_FRAME;
    int64_t end_ns = event->start_ns + (lasts ? (int64_t)event->duration_ns : 0);

    chunk->first_ns = event->start_ns < chunk->first_ns ? event->start_ns : chunk->first_ns;
    chunk->last_ns = end_ns > chunk->last_ns ? end_ns : chunk->last_ns;
    chunk->count++;
    track->thread->owner->samples++;
    store->sequence++;
    store->events++;
}

int event_store_add(struct event_store *store, struct track *track, const struct event *event,
                    enum timeline_mark mark, uint32_t depth)
{
    struct event_filing filing = { .mark = mark, .depth = depth };

    if ((!store->open || !event_chunk_fits(newest(store))) &&
        begin_chunk(store, event->start_ns) < 0)
        goto no_memory;
    if (source_of(store, track, &event->stream, &filing.source) < 0 ||
        event_chunk_append(newest(store), &store->index, event, &filing) < 0)
        goto no_memory;
    count_event(store, track, event);
    keep_bound(store);
    return 0;

no_memory:
    store->unstored++;
    return -ISOSCOPE_NO_MEMORY;
}

void event_store_rename(struct event_store *store, struct owner_thread *thread, const char *name)
{
    pthread_mutex_lock(&store->lock);
    snprintf(thread->name, sizeof(thread->name), "%.15s", name);
    pthread_mutex_unlock(&store->lock);
}

void event_store_refuse(struct event_store *store)
{
    pthread_mutex_lock(&store->lock);
    store->unstored++;
    pthread_mutex_unlock(&store->lock);
}

static bool anything_visible(const struct event_chunk *chunk)
{
    for (uint32_t i = 0; i < chunk->source_count; i++)
        if (event_first_visible(chunk, chunk->sources[i].thread->owner) < chunk->count)
            return true;
    return false;
}

/* With the lock. */
static void hide(struct event_store *store, struct owner *owner)
{
    owner->visible_from = store->sequence;
    store->events -= owner->samples;
    owner->samples = 0;
}

void event_store_forget(struct event_store *store, struct owner *owner)
{
    pthread_mutex_lock(&store->lock);
    hide(store, owner);
    pthread_mutex_unlock(&store->lock);
}

void event_store_clear(struct event_store *store, struct owner *owner)
{
    pthread_mutex_lock(&store->lock);
    hide(store, owner);
    store->clears++;
    for (uint32_t i = store->chunk_count; i-- > 0;)
        if (!anything_visible(store->chunks[i]))
            remove_chunk(store, i);
    pthread_mutex_unlock(&store->lock);
}

bool event_store_has(struct event_store *store, const struct owner *owner)
{
    bool has;

    pthread_mutex_lock(&store->lock);
    has = owner->samples > 0;
    pthread_mutex_unlock(&store->lock);
    return has;
}

struct timeline_history event_store_history(struct event_store *store)
{
    struct timeline_history history = { .bytes_max = store->bytes_max };

    pthread_mutex_lock(&store->lock);
    history.bytes = bytes_now(store);
    history.events = store->events;
    history.evicted = store->evicted;
    history.unstored = store->unstored;
    history.unmatched = store->unmatched;
    history.cut_off = store->cut_off;
    history.too_deep = store->too_deep;
    history.backward = store->backward;
    for (uint32_t i = 0; i < store->chunk_count; i++) {
        const struct event_chunk *chunk = store->chunks[i];

        if (i == 0 || chunk->first_ns < history.first_ns)
            history.first_ns = chunk->first_ns;
        if (chunk->last_ns > history.last_ns)
            history.last_ns = chunk->last_ns;
    }
    pthread_mutex_unlock(&store->lock);
    return history;
}
