#include "stacks.h"

#include "../feed/cleanup.h"
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

/* One more for the stack; a new one gets the list's next place. */
static int count_stack(struct stacks *stacks, struct map64 *known, const struct store_view *views,
                       struct pick pick)
{
    const struct chunk_sample *sample = &views[pick.view].chunk->samples[pick.sample];
    bool added;
    uint32_t *place = map64_put(
        known, (uint64_t)pick.view << 32 | (uint32_t)sample->caller << 16 | sample->leaf, &added);

    if (!place || reserve(stacks) < 0)
        return -ISOSCOPE_NO_MEMORY;
    if (added) {
        *place = stacks->count++;
        stacks->list[*place] = (struct stack){ pick.view, sample->caller, sample->leaf, 0 };
    }
    stacks->list[*place].samples++;
    return 0;
}

int stacks_find(struct stacks *stacks, struct window *window)
{
    CLEANUP(map64_free) struct map64 known = { 0 };

    while (window_next(window))
        for (uint32_t i = 0; i < window->count; i++)
            if (count_stack(stacks, &known, window->views, window->picks[i]) < 0)
                return -ISOSCOPE_NO_MEMORY;
    return 0;
}
