/*
 * block_search.h - finds an address's place among sorted ones, with few cache misses.
 *
 * A binary search over a table that is not in the cache misses at nearly each step. Here each step
 * reads one cache line: of every 16th address, of these again every 16th, and so on. They are kept
 * as 32 bits from the first one on: no module's code is larger.
 *
 * Ownership  The user's struct: all zeros is empty, block_search_free ends it.
 * Threads    block_search_find: any.
 * Errors     block_search_build: 0 or -ISOSCOPE_NO_MEMORY.
 */
#ifndef ISOSCOPE_BLOCK_SEARCH_H
#define ISOSCOPE_BLOCK_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BLOCK_LEVELS_MAX = 8, BLOCK_NUMBERS = 16, BLOCK_NONE = UINT32_MAX };

struct block_search {
    uint64_t base;
    uint32_t *levels[BLOCK_LEVELS_MAX]; /* [0]: all; each ends with a full block */
    uint32_t level_count;
    uint32_t count;
};

/* Room for that many, then one call for each in ascending order, then build. */
int block_search_reserve(struct block_search *search, uint32_t capacity);
/* False: too far from the first one; so are all that follow. */
bool block_search_add(struct block_search *search, uint64_t address);
int block_search_build(struct block_search *search);
void block_search_free(struct block_search *search);
size_t block_search_bytes(const struct block_search *search);

/* The place of the last one that is not above the address; BLOCK_NONE: all are. */
uint32_t block_search_find(const struct block_search *search, uint64_t address);

#endif
