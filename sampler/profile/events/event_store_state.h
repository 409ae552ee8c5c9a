/*
 * event_store_state.h - what a store of events is made of: for its own modules.
 *
 *   event_store.c (adds, evicts), event_pairing.c (tracks, begin and end), event_views.c (what
 *   readers get), event_archive.c (chunks of sessions)
 */
#ifndef ISOSCOPE_EVENT_STORE_STATE_H
#define ISOSCOPE_EVENT_STORE_STATE_H

#include "event_store.h"

#include "../../include/isoscope/isoscope.h"
#include "../base/grow.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct event_store {
    pthread_mutex_t loading; /* held while a chunk of an archive is loaded; taken before lock */
    uint64_t looks;          /* loading: event_view_load's calls */
    size_t loaded_bytes;     /* loading: of such chunks in memory */

    pthread_mutex_t lock; /* guards the rest */
    size_t bytes_max;
    size_t closed_bytes; /* of all chunks but the open one */
    uint64_t sequence;   /* events ever added */
    uint64_t serial;     /* the next chunk's */
    struct event_chunk **chunks;
    uint32_t chunk_count, chunk_capacity;
    bool open; /* the newest chunk takes events */
    struct event_index index;
    struct track *tracks;
    uint32_t clears;
    uint64_t events, evicted, unstored, unmatched, cut_off, too_deep, backward;
};

/* The number of the owner's first event in the chunk that was not cleared. */
static inline uint32_t event_first_visible(const struct event_chunk *chunk,
                                           const struct owner *owner)
{
    uint64_t from = owner->visible_from;
    uint64_t first = from > chunk->first_sequence ? from - chunk->first_sequence : 0;

    return first < chunk->count ? (uint32_t)first : chunk->count;
}

/* With the lock. Into the newest chunk; what finds no memory is counted. */
int event_store_add(struct event_store *store, struct track *track, const struct event *event,
                    enum timeline_mark mark, uint32_t depth);

/* Loaded chunks that nobody holds any more go, those beyond the bound. */
void event_store_unload(struct event_store *store);

#endif
