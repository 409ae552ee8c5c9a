#include "event_store_state.h"

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
    error = event_store_add(store, track, &slice, mark, track->open_count - 1);
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
    track_unlink(track);
    pthread_mutex_unlock(&store->lock);
    track_free(track);
}

int event_store_put(struct event_store *store, struct track *track, const struct event *event)
{
    struct event put = *event;
    uint64_t longest = (uint64_t)(INT64_MAX - put.start_ns);
    int error;

    put.duration_ns = put.duration_ns < longest ? put.duration_ns : longest;
    pthread_mutex_lock(&store->lock);
    error = event_store_add(store, track, &put, TIMELINE_WHOLE,
                            put.kind == TIMELINE_SLICE ? track->open_count : 0);
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
    return event_store_add(store, track, &lone, TIMELINE_NO_BEGIN, depth);
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
