#include "store_fair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A chunk may take this part of the bound, so that an eviction is never felt. */
enum { CHUNKS_PER_BOUND = 8 };

int store_new(struct store **out, size_t bytes_max, enum sample_kind kind)
{
    struct store *store = calloc(1, sizeof(*store));

    if (!store)
        return -ISOSCOPE_NO_MEMORY;
    pthread_mutex_init(&store->loading, NULL);
    pthread_mutex_init(&store->lock, NULL);
    store->bytes_max = bytes_max ? bytes_max : STORE_BYTES_DEFAULT;
    if (store->bytes_max < STORE_BYTES_MIN)
        store->bytes_max = STORE_BYTES_MIN;
    store->kind = kind;
    store->serial = 1 + (uint64_t)kind;
    *out = store;
    return 0;
}

void store_free(struct store *store)
{
    if (!store)
        return;
    for (uint32_t i = 0; i < store->chunk_count; i++)
        chunk_release(store->chunks[i]);
    free(store->chunks);
    chunk_index_free(&store->index);
    pthread_mutex_destroy(&store->lock);
    pthread_mutex_destroy(&store->loading);
    free(store);
}

static struct chunk *open_chunk(const struct store *store)
{
    return store->open ? store->chunks[store->chunk_count - 1] : NULL;
}

static void close_chunk(struct store *store)
{
    if (!store->open)
        return;
    store->closed_bytes += chunk_bytes(open_chunk(store));
    store->open = false;
    chunk_index_reset(&store->index);
}

static int begin_chunk(struct store *store, int64_t first_us)
{
    close_chunk(store);
    if (store_reserve_chunk(store) < 0 || chunk_new(&store->chunks[store->chunk_count], store->kind,
                                                    store->serial, store->sequence, first_us) < 0)
        return -ISOSCOPE_NO_MEMORY;
    store->serial += SAMPLE_KINDS * (uint64_t)STORE_REMADE_MAX;
    store->chunk_count++;
    store->open = true;
    return 0;
}

static size_t bytes_now(const struct store *store)
{
    return sizeof(*store) + store->closed_bytes + chunk_index_bytes(&store->index) +
           (store->open ? chunk_bytes(open_chunk(store)) : 0);
}

static void forget_all(struct owner_thread *thread)
{
    memset(thread->states, 0, sizeof(thread->states));
    forget_samples(thread, thread->samples);
}

static void count_evicted(const struct chunk *chunk)
{
    for (uint32_t i = 0; i < chunk->sample_count; i++)
        if (i >= first_visible(chunk, chunk->sources[chunk->samples[i].source].thread))
            count_one_evicted(chunk, i);
}

static void remove_chunk(struct store *store, uint32_t number)
{
    struct chunk *chunk = store->chunks[number];

    if (number == store->chunk_count - 1 && store->open) {
        store->open = false;
        chunk_index_reset(&store->index);
    } else {
        store->closed_bytes -= chunk_bytes(chunk);
    }
    memmove(&store->chunks[number], &store->chunks[number + 1],
            (store->chunk_count - number - 1) * sizeof(struct chunk *));
    store->chunk_count--;
    chunk_release(chunk);
}

static void keep_bound(struct store *store)
{
    if (store->open && chunk_bytes(open_chunk(store)) >= store->bytes_max / CHUNKS_PER_BOUND)
        close_chunk(store);
    while (bytes_now(store) > store->bytes_max && store->chunk_count > 1) {
        if (store_evict_fairly(store))
            continue;
        count_evicted(store->chunks[0]);
        remove_chunk(store, 0);
    }
}

static int add_locked(struct store *store, const struct store_sample *sample)
{
    if ((!store->open || !chunk_fits(open_chunk(store), sample)) &&
        begin_chunk(store, sample->timestamp_us) < 0)
        return -ISOSCOPE_NO_MEMORY;
    if (chunk_append(open_chunk(store), &store->index, sample) < 0)
        return -ISOSCOPE_NO_MEMORY;
    store->sequence++;
    count_samples(sample->thread, sample->state, 1);
    keep_bound(store);
    return 0;
}

/* A weight in a chunk has 32 bits: what is larger is several samples, of which the first has the
 * objects. */
static int add_pieces(struct store *store, const struct store_sample *sample)
{
    struct store_sample piece = *sample;
    uint64_t left = sample->weight;
    uint64_t most = (uint64_t)UINT32_MAX * chunk_weight_unit(store->kind);
    int error;

    do {
        piece.weight = left < most ? left : most;
        left -= piece.weight;
        error = add_locked(store, &piece);
        piece.objects = 0;
    } while (left && !error);
    return error;
}

int store_add(struct store *store, const struct store_sample *sample)
{
    int error;

    pthread_mutex_lock(&store->lock);
    error =
        sample_kind_is_many(store->kind) ? add_pieces(store, sample) : add_locked(store, sample);
    pthread_mutex_unlock(&store->lock);
    return error;
}

void store_rename(struct store *store, struct owner_thread *thread, const char *name)
{
    pthread_mutex_lock(&store->lock);
    snprintf(thread->name, sizeof(thread->name), "%.15s", name);
    store->changes.renames++;
    pthread_mutex_unlock(&store->lock);
}

static bool anything_visible(const struct chunk *chunk)
{
    for (uint32_t i = 0; i < chunk->source_count; i++)
        if (first_visible(chunk, chunk->sources[i].thread) < chunk->sample_count)
            return true;
    return false;
}

static void remove_invisible(struct store *store)
{
    for (uint32_t i = store->chunk_count; i-- > 0;)
        if (!anything_visible(store->chunks[i]))
            remove_chunk(store, i);
}

void store_clear(struct store *store, struct owner *owner)
{
    pthread_mutex_lock(&store->lock);
    owner->visible_from = store->sequence;
    while (owner->sampled)
        forget_all(owner->sampled);
    store->changes.clears++;
    remove_invisible(store);
    pthread_mutex_unlock(&store->lock);
}

void store_clear_thread(struct store *store, struct owner *owner, int32_t tid)
{
    struct owner_thread *next;

    pthread_mutex_lock(&store->lock);
    for (struct owner_thread *thread = owner->sampled; thread; thread = next) {
        next = thread->next;
        if (thread->tid != tid)
            continue;
        thread->visible_from = store->sequence;
        forget_all(thread);
    }
    store->changes.clears++;
    remove_invisible(store);
    pthread_mutex_unlock(&store->lock);
}

/* The kernel gives a number again: the threads that had it are one, by the newest one's name. */
static size_t list_thread(struct profile_thread *out, size_t filled, size_t capacity,
                          const struct owner_thread *thread)
{
    for (size_t i = 0; i < filled && i < capacity; i++) {
        if (out[i].tid != thread->tid)
            continue;
        out[i].samples += thread->samples;
        return filled;
    }
    if (filled < capacity) {
        out[filled].tid = thread->tid;
        out[filled].samples = thread->samples;
        memcpy(out[filled].name, thread->name, sizeof(out[filled].name));
    }
    return filled + 1;
}

size_t store_threads(struct store *store, const struct owner *owner, struct profile_thread *out,
                     size_t capacity)
{
    size_t count = 0;

    pthread_mutex_lock(&store->lock);
    for (const struct owner_thread *thread = owner->sampled; thread && count <= capacity;
         thread = thread->next)
        count = list_thread(out, count, capacity, thread);
    pthread_mutex_unlock(&store->lock);
    return count;
}

void store_states(struct store *store, const struct owner *owner, int32_t tid,
                  uint64_t counts[OWNER_STATES])
{
    memset(counts, 0, OWNER_STATES * sizeof(*counts));
    pthread_mutex_lock(&store->lock);
    for (const struct owner_thread *thread = owner->sampled; thread; thread = thread->next)
        for (int state = 0; state < OWNER_STATES && (!tid || tid == thread->tid); state++)
            counts[state] += thread->states[state];
    pthread_mutex_unlock(&store->lock);
}

uint64_t store_version(struct store *store)
{
    uint64_t version;

    pthread_mutex_lock(&store->lock);
    version = store->sequence + store->changes.renames + store->changes.clears;
    pthread_mutex_unlock(&store->lock);
    return version;
}

struct owner_counts store_counts(struct store *store, const struct owner *owner)
{
    struct owner_counts counts;

    pthread_mutex_lock(&store->lock);
    counts = (struct owner_counts){ owner->samples, owner->evicted };
    pthread_mutex_unlock(&store->lock);
    return counts;
}

size_t store_bytes(struct store *store)
{
    size_t bytes;

    pthread_mutex_lock(&store->lock);
    bytes = bytes_now(store);
    pthread_mutex_unlock(&store->lock);
    return bytes;
}

struct profile_history store_history(struct store *store)
{
    struct profile_history history = { .bytes_max = store->bytes_max };

    pthread_mutex_lock(&store->lock);
    history.bytes = bytes_now(store);
    for (uint32_t i = 0; i < store->chunk_count; i++) {
        const struct chunk *chunk = store->chunks[i];

        if (i == 0 || chunk->min_us < history.first_us)
            history.first_us = chunk->min_us;
        if (chunk->max_us > history.last_us)
            history.last_us = chunk->max_us;
    }
    pthread_mutex_unlock(&store->lock);
    return history;
}
