/*
 * block_search.h - finds a number's place among sorted ones, with few cache misses.
 *
 * A binary search over a table that is not in the cache misses at nearly each step. Here each step
 * reads one cache line: of every 16th number, of these again every 16th, and so on.
 *
 * Ownership  The user's struct: all zeros is empty, block_search_free ends it.
 * Threads    block_search_find: any.
 * Errors     block_search_build: 0 or -ISOSCOPE_NO_MEMORY.
 */
#ifndef ISOSCOPE_BLOCK_SEARCH_H
#define ISOSCOPE_BLOCK_SEARCH_H

#include <stddef.h>
#include <stdint.h>

enum { BLOCK_LEVELS_MAX = 8, BLOCK_NUMBERS = 16 };

struct block_search {
    uint32_t *levels[BLOCK_LEVELS_MAX]; /* [0]: all; each ends with a full block */
    uint32_t level_count;
    uint32_t count;
};

/* Room for count numbers in levels[0], for the user to fill in, ascending; then build. */
int block_search_reserve(struct block_search *search, uint32_t count);
/* count: how many there are, at most those reserved. */
int block_search_build(struct block_search *search, uint32_t count);
void block_search_free(struct block_search *search);
size_t block_search_bytes(const struct block_search *search);

/* The place of the last one that is not above number; at least one number is not. */
uint32_t block_search_find(const struct block_search *search, uint32_t number);

#endif
