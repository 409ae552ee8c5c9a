#include "live_sets.h"

#include "../../feed/layout.h"
#include "../../include/isoscope/isoscope.h"
#include "../base/grow.h"
#include "live_stacks.h"
#include "weigh.h"

#include <pthread.h>
#include <stdlib.h>

enum {
    LIST_MIN = 256,
    /* Of isoscope/memory.h, in the program. */
    FILTER_BYTES = 64 * 1024,
    /* What one may take of the table, while there are as many as ever were. */
    PLACE_BYTES_MAX = 8 * sizeof(struct feed_allocation),
    /* And in the store: a node for each of its frames, at most, which goes with the stack. */
    SHOWN_BYTES = sizeof(struct chunk_sample) + sizeof(uint32_t),
};

struct live {
    uint64_t mark, amount;
    int64_t timestamp_us;
    struct live_stack *stack;
    struct owner_thread *thread; /* held */
    uint32_t mean, tag;
    uint8_t end, state;
};

struct live_set {
    struct live_sets *sets;
    struct owner *owner;
    struct live *list; /* in the order in which they came */
    uint32_t count, capacity;
    uint32_t level; /* those of a lower one are not here */
    struct live_stacks stacks;
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

static void release(struct live_set *set, struct live *live)
{
    owner_thread_release(live->thread);
    live_stacks_leave(&set->stacks, live->stack);
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
        release(set, &set->list[i]);
    live_stacks_free(&set->stacks);
    free(set->list);
    owner_release(set->owner);
    free(set);
}

static int add(struct live_set *set, const struct live *live, const struct store_sample *sample)
{
    struct live_stack *stack;

    if (!GROW(set->list, set->count, set->capacity))
        return -ISOSCOPE_NO_MEMORY;
    stack = live_stacks_use(&set->stacks, sample->frames, sample->depth);
    if (!stack)
        return -ISOSCOPE_NO_MEMORY;
    set->list[set->count] = *live;
    set->list[set->count++].stack = stack;
    owner_thread_hold(live->thread);
    set->sets->shown = false;
    return 0;
}

int live_set_add(struct live_set *set, uint64_t mark, uint64_t amount, uint64_t mean,
                 const struct store_sample *sample)
{
    const struct live live = { .mark = mark,
                               .amount = amount,
                               .timestamp_us = sample->timestamp_us,
                               .thread = sample->thread,
                               .mean = mean < UINT32_MAX ? (uint32_t)mean : UINT32_MAX,
                               .tag = sample->tag,
                               .end = sample->end,
                               .state = sample->state };
    int error = 0;

    pthread_mutex_lock(&set->sets->lock);
    if (FEED_ALLOCATION_LEVEL(mark) >= set->level)
        error = add(set, &live, sample);
    pthread_mutex_unlock(&set->sets->lock);
    return error;
}

static void shrink(struct live_set *set)
{
    struct live *smaller;

    if (set->capacity <= LIST_MIN || set->count >= set->capacity / 4)
        return;
    smaller = reallocarray(set->list, set->capacity / 2, sizeof(*smaller));
    if (!smaller)
        return;
    set->list = smaller;
    set->capacity /= 2;
}

/* Those of the set's level that live; table NULL: all do. With the lock. */
static void keep(struct live_set *set, const struct live_table *table)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < set->count; i++) {
        uint64_t mark = set->list[i].mark;

        if (FEED_ALLOCATION_LEVEL(mark) >= set->level &&
            (!table || table->lives(table->context, mark)))
            set->list[kept++] = set->list[i];
        else
            release(set, &set->list[i]);
    }
    if (kept != set->count)
        set->sets->shown = false;
    set->count = kept;
    shrink(set);
}

/* With the lock. */
static void raise_level(struct live_set *set, uint32_t level)
{
    if (level <= set->level)
        return;
    set->level = level;
    set->sets->shown = false; /* also those that stay: they weigh more */
    keep(set, NULL);
}

/* The level after the look at the marks: what the program took out by it may be among the missing. */
void live_set_sweep(struct live_set *set, const struct live_table *table)
{
    pthread_mutex_lock(&set->sets->lock);
    keep(set, table);
    raise_level(set, table->level(table->context));
    pthread_mutex_unlock(&set->sets->lock);
}

static uint64_t mean_of(const struct live_set *set, const struct live *live)
{
    uint64_t least = set->level ? UINT64_C(1) << set->level : 0;

    return live->mean && live->mean < least ? least : live->mean;
}

/* At least so many bytes they stand for. */
static uint64_t heap_of(const struct live_set *set)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < set->count; i++) {
        uint64_t mean = mean_of(set, &set->list[i]);

        bytes += set->list[i].amount > mean ? set->list[i].amount : mean;
    }
    return bytes;
}

static size_t bytes_of(const struct live_set *set)
{
    return set->capacity * sizeof(*set->list) + live_stacks_bytes(&set->stacks) +
           set->count * SHOWN_BYTES + set->stacks.bytes / 2;
}

size_t live_set_bytes(struct live_set *set)
{
    size_t bytes;

    pthread_mutex_lock(&set->sets->lock);
    bytes = bytes_of(set);
    pthread_mutex_unlock(&set->sets->lock);
    return bytes;
}

/* What is taken by those that are here. The table stays as large as it was when there were most. */
static bool is_too_much(const struct live_set *set, size_t table_bytes)
{
    size_t of_these =
        FEED_ALLOCATIONS_FIRST * sizeof(struct feed_allocation) + set->count * PLACE_BYTES_MAX;
    size_t bytes = bytes_of(set) + FILTER_BYTES + (table_bytes < of_these ? table_bytes : of_these);

    return bytes > LIVE_BYTES_MIN && bytes > heap_of(set) / LIVE_HEAP_PART;
}

static uint32_t lowest_level(const struct live_set *set)
{
    uint32_t lowest = FEED_ALLOCATION_LEVEL_MAX;

    for (uint32_t i = 0; i < set->count; i++) {
        uint32_t level = FEED_ALLOCATION_LEVEL(set->list[i].mark);

        lowest = level < lowest ? level : lowest;
    }
    return lowest;
}

uint32_t live_set_bound(struct live_set *set, size_t table_bytes)
{
    uint32_t level;

    pthread_mutex_lock(&set->sets->lock);
    while (is_too_much(set, table_bytes) && set->level < FEED_ALLOCATION_LEVEL_MAX)
        raise_level(set, lowest_level(set) + 1);
    level = set->level;
    pthread_mutex_unlock(&set->sets->lock);
    return level;
}

static int show_one(struct live_set *set, const struct live *live)
{
    struct store_sample sample = {
        .kind = SAMPLES_OF_LIVE,
        .thread = live->thread,
        .timestamp_us = live->timestamp_us,
        .end = live->end,
        .state = live->state,
        .tag = live->tag,
        .depth = live->stack->depth,
        .frames = live->stack->frames,
    };

    weigh(live->amount, mean_of(set, live), WEIGH_BYTES_MAX, &sample);
    return store_add(set->sets->store, &sample);
}

/* With the lock. */
static int show(struct live_sets *sets)
{
    for (struct live_set *set = sets->first; set; set = set->next) {
        store_clear(sets->store, set->owner);
        for (uint32_t i = 0; i < set->count; i++)
            if (show_one(set, &set->list[i]) < 0)
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
