#include "live_sets.h"

#include "../../include/isoscope/isoscope.h"
#include "../base/grow.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct live {
    uint64_t mark;
    struct store_sample sample; /* its thread is held, its frames are its own */
};

struct live_set {
    struct live_sets *sets;
    struct owner *owner;
    struct live *list; /* in the order in which they came */
    uint32_t count, capacity;
    struct live_set *next;
};

struct live_sets {
    pthread_mutex_t lock;
    struct store *store;
    struct live_set *first;
    bool shown; /* what is in the store is what lives */
};

int live_sets_new(struct live_sets **out, struct store *store)
{
    struct live_sets *sets = calloc(1, sizeof(*sets));

    if (!sets)
        return -ISOSCOPE_NO_MEMORY;
    pthread_mutex_init(&sets->lock, NULL);
    sets->store = store;
    sets->shown = true;
    *out = sets;
    return 0;
}

void live_sets_free(struct live_sets *sets)
{
    if (!sets)
        return;
    pthread_mutex_destroy(&sets->lock);
    free(sets);
}

struct live_set *live_set_new(struct live_sets *sets, struct owner *owner)
{
    struct live_set *set = calloc(1, sizeof(*set));

    if (!set)
        return NULL;
    set->sets = sets;
    set->owner = owner_hold(owner);
    pthread_mutex_lock(&sets->lock);
    set->next = sets->first;
    sets->first = set;
    pthread_mutex_unlock(&sets->lock);
    return set;
}

static void release(struct live *live)
{
    owner_thread_release(live->sample.thread);
    free((void *)live->sample.frames);
}

void live_set_free(struct live_set *set)
{
    struct live_set **link;

    if (!set)
        return;
    pthread_mutex_lock(&set->sets->lock);
    for (link = &set->sets->first; *link != set; link = &(*link)->next)
        ;
    *link = set->next;
    set->sets->shown = false;
    store_clear(set->sets->store, set->owner);
    pthread_mutex_unlock(&set->sets->lock);
    for (uint32_t i = 0; i < set->count; i++)
        release(&set->list[i]);
    free(set->list);
    owner_release(set->owner);
    free(set);
}

static int add(struct live_set *set, uint64_t mark, const struct store_sample *sample)
{
    uint64_t *frames = malloc(sample->depth * sizeof(*frames));
    struct live *live;

    if (!frames || !GROW(set->list, set->count, set->capacity)) {
        free(frames);
        return -ISOSCOPE_NO_MEMORY;
    }
    memcpy(frames, sample->frames, sample->depth * sizeof(*frames));
    live = &set->list[set->count++];
    *live = (struct live){ mark, *sample };
    live->sample.frames = frames;
    owner_thread_hold(sample->thread);
    set->sets->shown = false;
    return 0;
}

int live_set_add(struct live_set *set, uint64_t mark, const struct store_sample *sample)
{
    int error;

    pthread_mutex_lock(&set->sets->lock);
    error = add(set, mark, sample);
    pthread_mutex_unlock(&set->sets->lock);
    return error;
}

void live_set_sweep(struct live_set *set, bool (*lives)(const void *context, uint64_t mark),
                    const void *context)
{
    uint32_t kept = 0;

    pthread_mutex_lock(&set->sets->lock);
    for (uint32_t i = 0; i < set->count; i++) {
        if (lives(context, set->list[i].mark))
            set->list[kept++] = set->list[i];
        else
            release(&set->list[i]);
    }
    if (kept != set->count)
        set->sets->shown = false;
    set->count = kept;
    pthread_mutex_unlock(&set->sets->lock);
}

/* With the lock. */
static int show(struct live_sets *sets)
{
    for (struct live_set *set = sets->first; set; set = set->next) {
        store_clear(sets->store, set->owner);
        for (uint32_t i = 0; i < set->count; i++)
            if (store_add(sets->store, &set->list[i].sample) < 0)
                return -ISOSCOPE_NO_MEMORY;
    }
    sets->shown = true;
    return 0;
}

void live_sets_changed(struct live_sets *sets)
{
    pthread_mutex_lock(&sets->lock);
    sets->shown = false;
    pthread_mutex_unlock(&sets->lock);
}

int live_sets_show(struct live_sets *sets)
{
    int error;

    pthread_mutex_lock(&sets->lock);
    error = sets->shown ? 0 : show(sets);
    pthread_mutex_unlock(&sets->lock);
    return error;
}
