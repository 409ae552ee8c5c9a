#include "event_store_state.h"

static bool is_asked(const struct event_ask *ask, const struct owner_thread *thread)
{
    return (!ask->process_id || ask->process_id == thread->owner->process_id) &&
           (!ask->tid || ask->tid == thread->tid);
}

static bool view_chunk(struct event_store *store, struct event_chunk *chunk,
                       const struct event_ask *ask, struct event_view *out)
{
    struct event_view_source *sources = calloc(chunk->source_count + 1, sizeof(*sources));

    if (!sources)
        return false;
    for (uint32_t i = 0; i < chunk->source_count; i++) {
        const struct owner_thread *thread = chunk->sources[i].thread;

        sources[i].process_id = thread->owner->process_id;
        sources[i].tid = thread->tid;
        memcpy(sources[i].name, thread->name, sizeof(sources[i].name));
        sources[i].first_visible =
            is_asked(ask, thread) ? event_first_visible(chunk, thread->owner) : UINT32_MAX;
    }
    *out = (struct event_view){ .store = store,
                                .chunk = event_chunk_hold(chunk),
                                .count = chunk->count,
                                .source_count = chunk->source_count,
                                .sources = sources };
    return true;
}

static bool view_chunks(struct event_store *store, const struct event_ask *ask,
                        struct event_views *out)
{
    out->views = calloc(store->chunk_count + 1, sizeof(*out->views));
    for (uint32_t i = 0; out->views && i < store->chunk_count; i++) {
        struct event_chunk *chunk = store->chunks[i];

        out->has_oldest |= chunk->serial == ask->serial_min;
        if (chunk->serial < ask->serial_min || chunk->first_ns > ask->last_ns ||
            chunk->last_ns < ask->first_ns)
            continue;
        if (!view_chunk(store, chunk, ask, &out->views[out->count]))
            return false;
        out->count++;
    }
    return out->views;
}

/* With words of its own, for the process' may go. */
static bool copy_slice(struct event_open *to, const struct open_slice *slice)
{
    const struct event_argument words[2] = { { .name = slice->name }, { .name = slice->stream } };

    to->words = event_arguments_copy(words, 2, slice->arguments, slice->argument_count, true);
    if (!to->words)
        return false;
    to->slice = (struct event){ .kind = TIMELINE_SLICE,
                                .start_ns = slice->start_ns,
                                .name = to->words[0].name,
                                .stream = to->words[1].name,
                                .argument_count = slice->argument_count,
                                .arguments = to->words + 2 };
    return true;
}

static bool view_track(const struct track *track, struct event_views *out, uint32_t *capacity)
{
    for (uint32_t i = 0; i < track->open_count; i++) {
        struct event_open *open;

        if (track->open[i].unseen)
            continue;
        if (!GROW(out->open, out->open_count, *capacity))
            return false;
        open = &out->open[out->open_count];
        *open = (struct event_open){ .process_id = track->thread->owner->process_id,
                                     .tid = track->thread->tid,
                                     .depth = i };
        memcpy(open->thread_name, track->thread->name, sizeof(open->thread_name));
        if (!copy_slice(open, &track->open[i]))
            return false;
        open->thread = owner_thread_hold(track->thread);
        out->open_count++;
    }
    return true;
}

static bool view_open(const struct event_store *store, const struct event_ask *ask,
                      struct event_views *out)
{
    uint32_t capacity = 0;

    for (const struct track *track = store->tracks; track; track = track->next)
        if (is_asked(ask, track->thread) && !view_track(track, out, &capacity))
            return false;
    return true;
}

int event_store_views(struct event_store *store, const struct event_ask *ask,
                      struct event_views *out)
{
    struct event_views views = { 0 };
    bool done;

    pthread_mutex_lock(&store->lock);
    views.end = store->serial;
    views.clears = store->clears;
    done = view_chunks(store, ask, &views) && (!ask->open || view_open(store, ask, &views));
    pthread_mutex_unlock(&store->lock);
    if (!done) {
        event_views_free(&views);
        return -ISOSCOPE_NO_MEMORY;
    }
    *out = views;
    return 0;
}

void event_views_free(struct event_views *views)
{
    struct event_store *store = views->count ? views->views->store : NULL;

    for (uint32_t i = 0; i < views->count; i++) {
        event_chunk_release(views->views[i].chunk);
        free(views->views[i].sources);
    }
    for (uint32_t i = 0; i < views->open_count; i++) {
        owner_thread_release(views->open[i].thread);
        free(views->open[i].words);
    }
    free(views->views);
    free(views->open);
    *views = (struct event_views){ 0 };
    if (store)
        event_store_unload(store);
}
