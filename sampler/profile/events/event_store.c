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

static void unlink_track(struct track *track)
{
    *track->link = track->next;
    if (track->next)
        track->next->link = track->link;
}

void event_store_free(struct event_store *store)
{
    struct track *track;

    if (!store)
        return;
    while ((track = store->tracks)) {
        unlink_track(track);
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

/* With the lock. */
static int add(struct event_store *store, struct track *track, const struct event *event,
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

int event_store_track(struct event_store *store, struct owner *owner, int32_t tid, const char *name,
                      struct track **out)
{
    struct track *track;
    int error = track_new(&track, owner, tid, name);

    if (error)
        return error;
    pthread_mutex_lock(&store->lock);
    track->next = store->tracks;
    track->link = &store->tracks;
    if (track->next)
        track->next->link = &track->next;
    store->tracks = track;
    pthread_mutex_unlock(&store->lock);
    *out = track;
    return 0;
}

/* With the lock. The slice that was begun last is what it was until then. */
static int end_slice(struct event_store *store, struct track *track, const struct event *end,
                     int64_t at_ns, enum timeline_mark mark)
{
    struct event slice;
    int error;

    track_top(track, end, &slice);
    if (at_ns < slice.start_ns)
        store->backward++;
    else
        slice.duration_ns = (uint64_t)(at_ns - slice.start_ns);
    error = add(store, track, &slice, mark, track->open_count - 1);
    track_pop(track);
    return error;
}

/* With the lock. One that began unseen has nothing to show. */
static void cut_slice(struct event_store *store, struct track *track, int64_t at_ns)
{
    if (track_top_unseen(track)) {
        track_pop(track);
        return;
    }
    store->cut_off++;
    end_slice(store, track, NULL, at_ns, TIMELINE_CUT_OFF);
}

void event_store_end_track(struct event_store *store, struct track *track, int64_t at_ns)
{
    pthread_mutex_lock(&store->lock);
    while (track->open_count)
        cut_slice(store, track, at_ns);
    unlink_track(track);
    pthread_mutex_unlock(&store->lock);
    track_free(track);
}

void event_store_rename(struct event_store *store, struct owner_thread *thread, const char *name)
{
    pthread_mutex_lock(&store->lock);
    snprintf(thread->name, sizeof(thread->name), "%.15s", name);
    pthread_mutex_unlock(&store->lock);
}

int event_store_put(struct event_store *store, struct track *track, const struct event *event)
{
    struct event put = *event;
    uint64_t longest = (uint64_t)(INT64_MAX - put.start_ns);
    int error;

    put.duration_ns = put.duration_ns < longest ? put.duration_ns : longest;
    pthread_mutex_lock(&store->lock);
    error =
        add(store, track, &put, TIMELINE_WHOLE, put.kind == TIMELINE_SLICE ? track->open_count : 0);
    pthread_mutex_unlock(&store->lock);
    return error;
}

int event_store_begin(struct event_store *store, struct track *track, const struct event *begin)
{
    bool done = true;

    pthread_mutex_lock(&store->lock);
    if (track->beyond || track->open_count == TRACK_DEPTH_MAX) {
        track->beyond++;
        store->too_deep++;
    } else {
        done = track_push(track, begin);
        store->unstored += !done;
    }
    pthread_mutex_unlock(&store->lock);
    return done ? 0 : -ISOSCOPE_NO_MEMORY;
}

/* With the lock. */
static int end_without_begin(struct event_store *store, struct track *track,
                             const struct event *end, uint32_t depth)
{
    struct event lone = *end;

    lone.kind = TIMELINE_SLICE;
    lone.duration_ns = 0;
    lone.name = (struct event_word){ 0 };
    store->unmatched++;
    return add(store, track, &lone, TIMELINE_NO_BEGIN, depth);
}

/* With the lock. */
static int end_last(struct event_store *store, struct track *track, const struct event *end)
{
    uint32_t inside = track_inside(track, &end->stream);

    if (track->beyond) {
        track->beyond--;
        return 0;
    }
    if (inside == UINT32_MAX)
        return end_without_begin(store, track, end, track->open_count);
    while (inside--)
        cut_slice(store, track, end->start_ns);
    if (!track_top_unseen(track))
        return end_slice(store, track, end, end->start_ns, TIMELINE_WHOLE);
    track_pop(track);
    return end_without_begin(store, track, end, track->open_count);
}

int event_store_end(struct event_store *store, struct track *track, const struct event *end)
{
    int error;

    pthread_mutex_lock(&store->lock);
    error = end_last(store, track, end);
    pthread_mutex_unlock(&store->lock);
    return error;
}

/* With the lock. What there is no room for is beyond. */
static int begin_unseen(struct event_store *store, struct track *track, uint32_t begun)
{
    for (; begun && !track->beyond && track->open_count < TRACK_DEPTH_MAX; begun--)
        if (!track_push(track, NULL)) {
            store->unstored++;
            return -ISOSCOPE_NO_MEMORY;
        }
    track->beyond += begun;
    return 0;
}

/* With the lock. */
static void end_unseen(struct event_store *store, struct track *track, int64_t at_ns,
                       uint32_t ended)
{
    uint64_t beyond = track->beyond < ended ? track->beyond : ended;

    track->beyond -= beyond;
    for (ended -= (uint32_t)beyond; ended && track->open_count; ended--)
        cut_slice(store, track, at_ns);
}

int event_store_lost(struct event_store *store, struct track *track, int64_t at_ns, uint32_t ended,
                     uint32_t begun)
{
    int error;

    pthread_mutex_lock(&store->lock);
    end_unseen(store, track, at_ns, ended);
    error = begin_unseen(store, track, begun);
    pthread_mutex_unlock(&store->lock);
    return error;
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
