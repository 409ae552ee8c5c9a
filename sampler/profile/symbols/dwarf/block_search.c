#include "block_search.h"

#include "../../../include/isoscope/isoscope.h"

#include <stdlib.h>
#include <string.h>

enum { CACHE_LINE_BYTES = 64 };

static uint32_t blocks_of(uint32_t count)
{
    return count / BLOCK_NUMBERS + (count % BLOCK_NUMBERS != 0);
}

static uint32_t *new_level(uint32_t count)
{
    return aligned_alloc(CACHE_LINE_BYTES, (size_t)(blocks_of(count) + 1) * CACHE_LINE_BYTES);
}

int block_search_reserve(struct block_search *search, uint32_t capacity)
{
    search->levels[0] = new_level(capacity);
    return search->levels[0] ? 0 : -ISOSCOPE_NO_MEMORY;
}

bool block_search_add(struct block_search *search, uint64_t address)
{
    if (!search->count)
        search->base = address;
    if (address - search->base >= UINT32_MAX)
        return false;
    search->levels[0][search->count++] = (uint32_t)(address - search->base);
    return true;
}

/* realloc would lose its place at a cache line's beginning. */
static void shrink(struct block_search *search)
{
    uint32_t *smaller = new_level(search->count);

    if (!smaller)
        return;
    memcpy(smaller, search->levels[0], search->count * sizeof(*smaller));
    free(search->levels[0]);
    search->levels[0] = smaller;
}

/* Nothing is found in what is left of the last block. */
static void fill_block(uint32_t *level, uint32_t count)
{
    for (; count % BLOCK_NUMBERS != 0; count++)
        level[count] = UINT32_MAX;
}

int block_search_build(struct block_search *search)
{
    uint32_t count = search->count;

    shrink(search);
    fill_block(search->levels[0], count);
    search->level_count = 1;
    while (count > BLOCK_NUMBERS) {
        uint32_t *below = search->levels[search->level_count - 1];
        uint32_t *level = new_level(count = blocks_of(count));

        if (!level)
            return -ISOSCOPE_NO_MEMORY;
        search->levels[search->level_count++] = level;
        for (uint32_t i = 0; i < count; i++)
            level[i] = below[i * BLOCK_NUMBERS];
        fill_block(level, count);
    }
    return 0;
}

void block_search_free(struct block_search *search)
{
    for (uint32_t i = 0; i < BLOCK_LEVELS_MAX; i++)
        free(search->levels[i]);
    *search = (struct block_search){ 0 };
}

size_t block_search_bytes(const struct block_search *search)
{
    return (size_t)search->count * sizeof(uint32_t) * BLOCK_NUMBERS / (BLOCK_NUMBERS - 1);
}

uint32_t block_search_find(const struct block_search *search, uint64_t address)
{
    uint32_t number = (uint32_t)(address - search->base), place = 0;

    if (!search->count || address < search->base || address - search->base >= UINT32_MAX)
        return BLOCK_NONE;
    for (uint32_t level = search->level_count; level-- > 0;) {
        const uint32_t *block = search->levels[level] + (size_t)place * BLOCK_NUMBERS;
        uint32_t below = 0;

        for (uint32_t i = 0; i < BLOCK_NUMBERS; i++) /* the compiler compares several at once */
            below += block[i] <= number;
        place = place * BLOCK_NUMBERS + below - 1;
    }
    return place;
}
