#include "stacks.h"

#include "../include/isoscope/isoscope.h"
#include "map64.h"

#include <stdlib.h>

void stacks_free(struct stacks *stacks)
{
    free(stacks->list);
}

static int reserve(struct stacks *stacks)
{
    uint32_t capacity = stacks->capacity ? stacks->capacity * 2 : 256;
    struct stack *list;

    if (stacks->count < stacks->capacity)
        return 0;
    list = reallocarray(stacks->list, capacity, sizeof(*list));
    if (!list)
        return -ISOSCOPE_NO_MEMORY;
    stacks->list = list;
    stacks->capacity = capacity;
    return 0;
}

struct search {
    struct stacks *stacks;
    const struct store_view *views;
    struct map64 known;
};

/* One more for the stack; a new one gets the list's next place. */
static int count_stack(void *context, struct pick pick)
{
    struct search *search = context;
    struct stacks *stacks = search->stacks;
    const struct chunk_sample *sample = &search->views[pick.view].chunk->samples[pick.sample];
    int64_t time_us = pick_us(search->views, pick);
    bool added;
    uint32_t *place = map64_put(
        &search->known, (uint64_t)pick.view << 32 | (uint32_t)sample->caller << 16 | sample->leaf,
        &added);

    if (!place || reserve(stacks) < 0)
        return -ISOSCOPE_NO_MEMORY;
    if (time_us > stacks->last_us)
        stacks->last_us = time_us;
    if (added) {
        *place = stacks->count++;
        stacks->list[*place] = (struct stack){ pick.view, sample->caller, sample->leaf, 0 };
    }
    stacks->list[*place].samples++;
    return 0;
}

static int search_batches(struct search *search, struct window *window)
{
    int error = 0;

    while (!error && window_next(window))
        for (uint32_t i = 0; !error && i < window->count; i++)
            error = count_stack(search, window->picks[i]);
    window_rewind(window);
    return error;
}

int stacks_find(struct stacks *stacks, struct window *window)
{
    struct search search = { stacks, window->views, { 0 } };
    int error;

    stacks->last_us = INT64_MIN;
    error =
        window->whole ? window_each(window, count_stack, &search) : search_batches(&search, window);
    map64_free(&search.known);
    return error;
}
