#include "named_code.h"

#include "../../feed/chance.h"

#include <stdlib.h>
#include <string.h>

typedef _Atomic(struct named_range *) range_link;

const struct named_range *named_code_find(const struct named_code *code, uint64_t pc)
{
    const range_link *links = code->first;
    const struct named_range *found = NULL;

    for (uint32_t level = NAMED_CODE_HEIGHT; level-- > 0;) {
        const struct named_range *range;

        /* seq_cst, as in code_map_enter: counted in before it is loaded. */
        while ((range = atomic_load_explicit(&links[level], memory_order_seq_cst)) &&
               range->start <= pc) {
            found = range;
            links = range->next;
        }
    }
    return found && pc < found->end ? found : NULL;
}

/* before: by level, the link that leads past everything that starts before the address. */
static void find_place(struct named_code *code, uint64_t start, range_link *before[])
{
    range_link *links = code->first;

    for (uint32_t level = NAMED_CODE_HEIGHT; level-- > 0;) {
        struct named_range *range;

        while ((range = atomic_load_explicit(&links[level], memory_order_relaxed)) &&
               range->start < start)
            links = range->next;
        before[level] = &links[level];
    }
}

/* A handler that stands on the range goes on by its links, which stay. */
static void take_out(struct named_code *code, struct named_range *range, range_link *before[])
{
    for (uint32_t level = range->height; level-- > 0;)
        atomic_store_explicit(before[level],
                              atomic_load_explicit(&range->next[level], memory_order_relaxed),
                              memory_order_seq_cst);
    retire(&code->retired, &range->retired);
}

static void take_out_overlapped(struct named_code *code, uint64_t start, uint64_t end)
{
    const struct named_range *below = named_code_find(code, start);
    range_link *before[NAMED_CODE_HEIGHT];
    struct named_range *range;

    find_place(code, below ? below->start : start, before);
    while ((range = atomic_load_explicit(before[0], memory_order_relaxed)) && range->start < end)
        take_out(code, range, before);
}

/* Half of the ranges have a height of one, a quarter two, ... */
static uint32_t draw_height(struct named_code *code)
{
    uint32_t height = 1, drawn = chance_next(&code->random);

    while (height < NAMED_CODE_HEIGHT && drawn >> (31 - height) & 1)
        height++;
    return height;
}

static struct named_range *range_new(uint32_t height, uint64_t start, uint64_t bytes,
                                     const char *name)
{
    size_t links = height * sizeof(range_link), length = strnlen(name, FEED_NAME_MAX);
    struct named_range *range = calloc(1, sizeof(*range) + links + length + 1);
    char *copy;

    if (!range)
        return NULL;
    copy = (char *)range->next + links;
    memcpy(copy, name, length);
    range->start = start;
    range->end = start + bytes;
    range->height = height;
    range->name = copy;
    return range;
}

int named_code_add(struct named_code *code, struct code_maps *maps, uint64_t start, uint64_t bytes,
                   const char *name)
{
    struct named_range *range = range_new(draw_height(code), start, bytes, name);
    range_link *before[NAMED_CODE_HEIGHT];

    if (!range)
        return -ISOSCOPE_NO_MEMORY;
    take_out_overlapped(code, range->start, range->end);
    find_place(code, start, before);
    for (uint32_t level = 0; level < range->height; level++)
        atomic_init(&range->next[level], atomic_load_explicit(before[level], memory_order_relaxed));
    /* From the lowest level up: whoever finds it can go on from it on every level. */
    for (uint32_t level = 0; level < range->height; level++)
        atomic_store_explicit(before[level], range, memory_order_seq_cst);
    free_retired(take_drained(maps, &code->retired));
    return 0;
}

int named_code_remove(struct named_code *code, struct code_maps *maps, uint64_t start)
{
    range_link *before[NAMED_CODE_HEIGHT];
    struct named_range *range;

    find_place(code, start, before);
    range = atomic_load_explicit(before[0], memory_order_relaxed);
    if (!range || range->start != start)
        return -ISOSCOPE_NOT_FOUND;
    take_out(code, range, before);
    free_retired(take_drained(maps, &code->retired));
    return 0;
}

void named_code_clear(struct named_code *code)
{
    struct named_range *range;

    while ((range = atomic_load(&code->first[0]))) {
        atomic_store(&code->first[0], atomic_load(&range->next[0]));
        free(range);
    }
    for (uint32_t level = 0; level < NAMED_CODE_HEIGHT; level++)
        atomic_store(&code->first[level], NULL);
    free_retired(code->retired);
    code->retired = NULL;
}
