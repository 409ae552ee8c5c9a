#include "store_fair.h"

#include <stdlib.h>
#include <string.h>

enum {
    KEPT_PART = 2, /* of a chunk at most one in so many may stay: else little would be won */
    SMALL = 4096,  /* samples of a chunk that the next one's are put to */
    LEVEL_OF = 8,  /* the level leaves one in so many of all samples less */
};

/* ---- how much each process may have ---- */

static int by_address(const void *a, const void *b)
{
    const struct owner *one = *(struct owner *const *)a, *other = *(struct owner *const *)b;

    return (one > other) - (one < other);
}

static int by_count(const void *a, const void *b)
{
    const struct owner *one = *(struct owner *const *)a, *other = *(struct owner *const *)b;

    return (one->samples > other->samples) - (one->samples < other->samples);
}

/* Each once. From malloc; NULL: out of memory. */
static struct owner **owners_of(const struct store *store, size_t *count)
{
    size_t room = 0, filled = 0, kept = 0;
    struct owner **list;

    for (uint32_t i = 0; i < store->chunk_count; i++)
        room += store->chunks[i]->source_count;
    list = malloc((room + 1) * sizeof(struct owner *));
    if (!list)
        return NULL;
    for (uint32_t i = 0; i < store->chunk_count; i++)
        for (uint32_t s = 0; s < store->chunks[i]->source_count; s++)
            list[filled++] = store->chunks[i]->sources[s].thread->owner;
    qsort(list, filled, sizeof(struct owner *), by_address);
    for (size_t i = 0; i < filled; i++)
        if (!i || list[i] != list[i - 1])
            list[kept++] = list[i];
    *count = kept;
    return list;
}

/* So many may each have that all have an eighth less than now: who has fewer keeps all of it, and what he
 * leaves is for the others. */
static uint64_t level_of(struct owner **owners, size_t count)
{
    uint64_t left = 0;

    for (size_t i = 0; i < count; i++)
        left += owners[i]->samples;
    left -= left / LEVEL_OF;
    qsort(owners, count, sizeof(struct owner *), by_count);
    for (size_t i = 0; i < count; i++) {
        uint64_t share = left / (count - i);

        if (owners[i]->samples > share)
            return share;
        left -= owners[i]->samples;
    }
    return UINT64_MAX;
}

/* ---- a chunk of what stays ---- */

struct making {
    struct chunk *chunk;
    struct chunk_index index;
    uint64_t frames[FEED_DEPTH_MAX];
};

static bool stays(const struct chunk *chunk, uint32_t number)
{
    const struct owner_thread *thread = chunk->sources[chunk->samples[number].source].thread;

    return number >= first_visible(chunk, thread) && !thread->owner->gives;
}

static uint32_t count_staying(const struct chunk *chunk)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < chunk->sample_count; i++)
        count += stays(chunk, i);
    return count;
}

/* As it was before it was stored. */
static struct store_sample sample_of(const struct chunk *chunk, uint32_t number,
                                     uint64_t frames[FEED_DEPTH_MAX])
{
    const struct chunk_sample *from = &chunk->samples[number];
    const struct chunk_source *source = &chunk->sources[from->source];
    struct store_sample sample = { .kind = chunk->kind,
                                   .thread = source->thread,
                                   .timestamp_us = chunk_sample_us(chunk, number),
                                   .weight = chunk_sample_weight(chunk, number),
                                   .objects = chunk_sample_objects(chunk, number),
                                   .wait = chunk_sample_wait(chunk, number),
                                   .end = from->end,
                                   .state = from->state,
                                   .tag = source->tag,
                                   .frames = frames };

    frames[sample.depth++] = chunk->frames[from->leaf];
    for (uint16_t node = from->caller; node && sample.depth < FEED_DEPTH_MAX;
         node = chunk->nodes[node].parent)
        frames[sample.depth++] = chunk->frames[chunk->nodes[node].frame];
    return sample;
}

static bool append_staying(struct making *making, const struct chunk *from)
{
    for (uint32_t i = 0; i < from->sample_count; i++) {
        struct store_sample sample;

        if (!stays(from, i))
            continue;
        sample = sample_of(from, i, making->frames);
        if (!chunk_fits(making->chunk, &sample) ||
            chunk_append(making->chunk, &making->index, &sample) < 0)
            return false;
    }
    return true;
}

/* A thread knows where it is in the chunk that is being filled: that stays so. */
struct place {
    struct owner_thread *thread;
    uint64_t chunk_serial;
    uint16_t chunk_source;
};

static struct place *places_of(const struct chunk *const *chunks, uint32_t count, size_t *filled)
{
    size_t room = 0;
    struct place *places;

    for (uint32_t i = 0; i < count; i++)
        room += chunks[i]->source_count;
    places = malloc((room + 1) * sizeof(*places));
    *filled = 0;
    for (uint32_t i = 0; places && i < count; i++)
        for (uint32_t s = 0; s < chunks[i]->source_count; s++) {
            struct owner_thread *thread = chunks[i]->sources[s].thread;

            places[(*filled)++] =
                (struct place){ thread, thread->chunk_serial, thread->chunk_source };
        }
    return places;
}

/* Of these, in their order. The last one gives its number, and all samples get the last sequence
 * numbers that it has: none of them was cleared, and what is cleared later is all of them. NULL: they do
 * not fit into one, or there is no memory. */
static struct chunk *made_of(const struct chunk *const *chunks, uint32_t count)
{
    const struct chunk *last = chunks[count - 1];
    struct making making = { .chunk = NULL };
    bool made = true;
    size_t filled;
    struct place *places = places_of(chunks, count, &filled);

    if (!places || chunk_new(&making.chunk, last->kind, last->serial + SAMPLE_KINDS, 0,
                             chunks[0]->min_us) < 0) {
        free(places);
        return NULL;
    }
    for (uint32_t i = 0; i < count && made; i++)
        made = append_staying(&making, chunks[i]);
    for (size_t i = 0; i < filled; i++) {
        places[i].thread->chunk_serial = places[i].chunk_serial;
        places[i].thread->chunk_source = places[i].chunk_source;
    }
    free(places);
    chunk_index_free(&making.index);
    if (!made) {
        chunk_release(making.chunk);
        return NULL;
    }
    making.chunk->made_of = chunks[0]->made_of ? chunks[0]->made_of : chunks[0]->serial;
    making.chunk->first_sequence =
        last->first_sequence + last->sample_count > making.chunk->sample_count
            ? last->first_sequence + last->sample_count - making.chunk->sample_count
            : 0;
    return making.chunk;
}

static void count_given(const struct chunk *chunk)
{
    for (uint32_t i = 0; i < chunk->sample_count; i++) {
        const struct owner_thread *thread = chunk->sources[chunk->samples[i].source].thread;

        if (thread->owner->gives && i >= first_visible(chunk, thread))
            count_one_evicted(chunk, i);
    }
}

/* Made takes the place of count chunks, of whose samples those are evicted that are not in
 * it: of owners that give. Takes it over; NULL: nothing stays. None of them is open. */
static void replace_chunks(struct store *store, uint32_t number, uint32_t count, struct chunk *made)
{
    for (uint32_t i = number; i < number + count; i++) {
        store->closed_bytes -= chunk_bytes(store->chunks[i]);
        count_given(store->chunks[i]);
        chunk_release(store->chunks[i]);
    }
    if (made) {
        store->closed_bytes += chunk_bytes(made);
        store->chunks[number++] = made;
        count--;
    }
    memmove(&store->chunks[number], &store->chunks[number + count],
            (store->chunk_count - number - count) * sizeof(struct chunk *));
    store->chunk_count -= count;
}

/* ---- the oldest chunk of which little would stay ---- */

static bool may_be_remade(const struct store *store, uint32_t number)
{
    const struct chunk *chunk = store->chunks[number];

    return !chunk->archive && !(number == store->chunk_count - 1 && store->open) &&
           (chunk->serial - 1 - (uint64_t)chunk->kind) / SAMPLE_KINDS % STORE_REMADE_MAX !=
               STORE_REMADE_MAX - 1;
}

/* With those of the one before it, where these are few. */
static bool remake(struct store *store, uint32_t number)
{
    const struct chunk *chunks[2] = { NULL, store->chunks[number] };
    bool joins = number && store->chunks[number - 1]->made_of &&
                 store->chunks[number - 1]->sample_count < SMALL;
    struct chunk *made = NULL;

    if (joins) {
        chunks[0] = store->chunks[number - 1];
        made = made_of(chunks, 2);
        joins = made != NULL;
    }
    if (!made && !(made = made_of(chunks + 1, 1)))
        return false;
    replace_chunks(store, joins ? number - 1 : number, joins ? 2 : 1, made);
    return true;
}

bool store_evict_fairly(struct store *store)
{
    size_t count = 0;
    struct owner **owners = owners_of(store, &count);
    uint64_t level = owners && count > 1 ? level_of(owners, count) : UINT64_MAX;

    for (size_t i = 0; owners && i < count; i++)
        owners[i]->gives = owners[i]->samples > level;
    free(owners);
    if (level == UINT64_MAX)
        return false;
    for (uint32_t i = 0; i < store->chunk_count; i++) {
        uint32_t staying;

        if (!may_be_remade(store, i))
            continue;
        staying = count_staying(store->chunks[i]);
        if (!staying) {
            replace_chunks(store, i, 1, NULL);
            return true;
        }
        if (staying <= store->chunks[i]->sample_count / KEPT_PART)
            return remake(store, i);
    }
    return false;
}
