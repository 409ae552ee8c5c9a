#include "inline_chains.h"

#include "../../include/isoscope/isoscope.h"
#include "../base/map64.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { ASKED = UINT32_MAX, FRAMES_MIN = 256 };

/* Two of them: what is looked at moves to the young one, and the old one goes as a whole. */
struct generation {
    struct map64 by_frame; /* frame -> index of its chain's first frame + 1, or ASKED */
    struct chain_frame *frames;
    uint32_t count, capacity;
};

struct inline_chains {
    pthread_mutex_t lock; /* guards the rest */
    size_t bytes_max;
    struct generation young, old;
};

int inline_chains_new(struct inline_chains **out, size_t bytes_max)
{
    struct inline_chains *chains = calloc(1, sizeof(*chains));

    if (!chains)
        return -ISOSCOPE_NO_MEMORY;
    pthread_mutex_init(&chains->lock, NULL);
    chains->bytes_max = bytes_max;
    *out = chains;
    return 0;
}

static void generation_free(struct generation *generation)
{
    map64_free(&generation->by_frame);
    free(generation->frames);
    *generation = (struct generation){ 0 };
}

void inline_chains_free(struct inline_chains *chains)
{
    if (!chains)
        return;
    generation_free(&chains->young);
    generation_free(&chains->old);
    pthread_mutex_destroy(&chains->lock);
    free(chains);
}

static bool make_room(struct generation *generation, uint32_t more)
{
    uint32_t capacity = generation->capacity ? generation->capacity : FRAMES_MIN;
    struct chain_frame *frames;

    while (capacity - generation->count < more)
        capacity *= 2;
    if (capacity == generation->capacity)
        return true;
    frames = reallocarray(generation->frames, capacity, sizeof(*frames));
    if (!frames)
        return false;
    generation->frames = frames;
    generation->capacity = capacity;
    return true;
}

static int put_chain(struct generation *generation, uint64_t frame,
                     const struct chain_frame *frames, uint32_t count)
{
    bool added;
    uint32_t *value;

    if (!make_room(generation, count) || !(value = map64_put(&generation->by_frame, frame, &added)))
        return -ISOSCOPE_NO_MEMORY;
    *value = generation->count + 1;
    for (uint32_t i = 0; i < count; i++) {
        generation->frames[generation->count] = frames[i];
        generation->frames[generation->count++].more = i + 1 < count;
    }
    return 0;
}

static uint32_t copy(const struct generation *generation, uint32_t value, struct chain_frame *out)
{
    const struct chain_frame *frame = &generation->frames[value - 1];
    uint32_t count = 0;

    do
        out[count++] = *frame;
    while ((frame++)->more);
    return count;
}

uint32_t inline_chains_find(struct inline_chains *chains, uint64_t frame,
                            struct chain_frame out[INLINE_CHAIN_MAX], bool *asked)
{
    uint32_t value, count = 0;

    pthread_mutex_lock(&chains->lock);
    value = map64_find(&chains->young.by_frame, frame);
    *asked = value == ASKED;
    if (value && value != ASKED) {
        count = copy(&chains->young, value, out);
    } else if ((value = map64_find(&chains->old.by_frame, frame)) && value != ASKED) {
        count = copy(&chains->old, value, out);
        put_chain(&chains->young, frame, out, count); /* without memory it stays where it is */
    }
    pthread_mutex_unlock(&chains->lock);
    return count;
}

int inline_chains_mark_asked(struct inline_chains *chains, uint64_t frame)
{
    uint32_t *value;
    bool added;

    pthread_mutex_lock(&chains->lock);
    value = map64_put(&chains->young.by_frame, frame, &added);
    if (value && added)
        *value = ASKED;
    pthread_mutex_unlock(&chains->lock);
    return value ? 0 : -ISOSCOPE_NO_MEMORY;
}

int inline_chains_put(struct inline_chains *chains, uint64_t frame,
                      const struct chain_frame *frames, uint32_t count)
{
    int error;

    pthread_mutex_lock(&chains->lock);
    error = put_chain(&chains->young, frame, frames, count);
    /* Nobody would ask again for what stays marked as asked for. All of it can be had anew. */
    if (error)
        generation_free(&chains->young);
    pthread_mutex_unlock(&chains->lock);
    return error;
}

static size_t generation_bytes(const struct generation *generation)
{
    return generation->by_frame.capacity * sizeof(struct map64_entry) +
           generation->capacity * sizeof(*generation->frames);
}

void inline_chains_settle(struct inline_chains *chains)
{
    pthread_mutex_lock(&chains->lock);
    if (generation_bytes(&chains->young) > chains->bytes_max / 2) {
        generation_free(&chains->old);
        chains->old = chains->young;
        chains->young = (struct generation){ 0 };
    }
    pthread_mutex_unlock(&chains->lock);
}

size_t inline_chains_bytes(struct inline_chains *chains)
{
    size_t bytes;

    pthread_mutex_lock(&chains->lock);
    bytes = generation_bytes(&chains->young) + generation_bytes(&chains->old);
    pthread_mutex_unlock(&chains->lock);
    return bytes;
}
