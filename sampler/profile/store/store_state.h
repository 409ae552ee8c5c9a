/*
 * store_state.h - what a store is made of: for its own modules.
 *
 *   store.c (adds, evicts, counts), store_views.c (what readers get), store_archive.c (chunks of
 *   sessions)
 */
#ifndef ISOSCOPE_STORE_STATE_H
#define ISOSCOPE_STORE_STATE_H

#include "store.h"

#include "../../include/isoscope/isoscope.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct store {
    enum sample_kind kind;
    pthread_mutex_t loading; /* held while a chunk of an archive is loaded; taken before lock */
    uint64_t looks;          /* loading: store_load's calls */
    size_t loaded_bytes;     /* loading: of such chunks in memory */

    pthread_mutex_t lock; /* guards the rest */
    size_t bytes_max;
    size_t closed_bytes; /* of all chunks but the newest */
    uint64_t sequence;   /* samples ever added */
    uint64_t serial;     /* the next chunk's */
    struct chunk **chunks;
    uint32_t chunk_count, chunk_capacity;
    struct store_changes changes;
    bool open;                /* the newest chunk takes samples */
    struct chunk_index index; /* of the open chunk */
};

/* Live chunks' serials leave so many numbers between them: a chunk that is made anew gets the next one. */
enum { STORE_REMADE_MAX = 16 };

/* Loaded chunks that nobody holds any more go, those beyond the bound. */
void store_unload(struct store *store);

/* With the lock: room for one chunk more. */
static inline int store_reserve_chunk(struct store *store)
{
    uint32_t capacity = store->chunk_capacity ? store->chunk_capacity * 2 : 64;
    struct chunk **chunks;

    if (store->chunk_count < store->chunk_capacity)
        return 0;
    chunks = reallocarray(store->chunks, capacity, sizeof(struct chunk *));
    if (!chunks)
        return -ISOSCOPE_NO_MEMORY;
    store->chunks = chunks;
    store->chunk_capacity = capacity;
    return 0;
}

/* The number of the thread's first sample in the chunk that was not cleared. */
static inline uint32_t first_visible(const struct chunk *chunk, const struct owner_thread *thread)
{
    uint64_t from = thread->owner->visible_from > thread->visible_from ? thread->owner->visible_from
                                                                       : thread->visible_from;
    uint64_t first = from > chunk->first_sequence ? from - chunk->first_sequence : 0;

    return first < chunk->sample_count ? (uint32_t)first : chunk->sample_count;
}

/* With the lock. A thread with samples is in its owner's list, and held by the chunk that they are
 * in. */
static inline void count_samples(struct owner_thread *thread, uint8_t state, uint32_t count)
{
    struct owner *owner = thread->owner;

    owner->samples += count;
    thread->states[state] += count;
    thread->samples += count;
    if (thread->samples > count || !count)
        return;
    thread->next = owner->sampled;
    thread->link = &owner->sampled;
    if (thread->next)
        thread->next->link = &thread->next;
    owner->sampled = thread;
}

/* With the lock. */
static inline void forget_samples(struct owner_thread *thread, uint64_t count)
{
    thread->owner->samples -= count;
    thread->samples -= count;
    if (thread->samples)
        return;
    *thread->link = thread->next;
    if (thread->next)
        thread->next->link = thread->link;
}

/* With the lock: a visible one is let go. */
static inline void count_one_evicted(const struct chunk *chunk, uint32_t number)
{
    struct owner_thread *thread = chunk->sources[chunk->samples[number].source].thread;

    thread->states[chunk->samples[number].state]--;
    forget_samples(thread, 1);
    thread->owner->evicted++;
}

#endif
