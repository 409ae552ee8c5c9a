#include "block_search.h"

#include "../../include/isoscope/isoscope.h"

#include <stdlib.h>

enum { CACHE_LINE_BYTES = 64 };

static uint32_t blocks_of(uint32_t count)
{
    return count / BLOCK_NUMBERS + (count % BLOCK_NUMBERS != 0);
}

static uint32_t *new_level(uint32_t count)
{
    return aligned_alloc(CACHE_LINE_BYTES, (size_t)(blocks_of(count) + 1) * CACHE_LINE_BYTES);
}

int block_search_reserve(struct block_search *search, uint32_t count)
{
    search->levels[0] = new_level(count);
    return search->levels[0] ? 0 : -ISOSCOPE_NO_MEMORY;
}

/* Nothing is found in what is left of the last block. */
static void fill_block(uint32_t *level, uint32_t count)
{
    for (; count % BLOCK_NUMBERS != 0; count++)
        level[count] = UINT32_MAX;
}

int block_search_build(struct block_search *search, uint32_t count)
{
    uint32_t *smaller =
        realloc(search->levels[0], (size_t)(blocks_of(count) + 1) * CACHE_LINE_BYTES);

    /* Moved, it may have lost its place at a cache line's beginning: slower, not wrong. */
    if (smaller)
        search->levels[0] = smaller;
    search->count = count;
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

uint32_t block_search_find(const struct block_search *search, uint32_t number)
{
    uint32_t place = 0;

    for (uint32_t level = search->level_count; level-- > 0;) {
        const uint32_t *block = search->levels[level] + (size_t)place * BLOCK_NUMBERS;
        uint32_t below = 0;

        for (uint32_t i = 0; i < BLOCK_NUMBERS; i++) /* the compiler compares four at once */
            below += block[i] <= number;
        place = place * BLOCK_NUMBERS + below - 1;
    }
    return place < search->count ? place : search->count - 1;
}
