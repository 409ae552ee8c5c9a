/*
 * key_sort.h - numbers sorted by 64-bit keys, in time that grows with their count alone.
 *
 *     make keys of what is to be sorted, key_sort, take it by the numbers' new order
 *
 * Addresses of one module differ in three or four of their bytes; one pass over all for each of
 * these costs a fraction of what comparisons do. Sorted keys cost one look at each.
 *
 * Errors     key_sort: 0 or -ISOSCOPE_NO_MEMORY; then the order is as it was.
 */
#ifndef ISOSCOPE_KEY_SORT_H
#define ISOSCOPE_KEY_SORT_H

#include <stdint.h>

struct sort_key {
    uint64_t key;
    uint32_t number; /* the caller's: goes where its key goes */
};

/* Ascending; equal keys stay in their order. */
int key_sort(struct sort_key *keys, uint32_t count);

#endif
