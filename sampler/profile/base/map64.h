/*
 * map64.h - a hash map from 64-bit keys to 32-bit values. It grows while it is put into, a little
 * at a time, so that no call takes long.
 *
 * Ownership  The user's struct; all zeros is an empty map, map64_free ends it.
 * Threads    One at a time.
 */
#ifndef ISOSCOPE_MAP64_H
#define ISOSCOPE_MAP64_H

#include <stdbool.h>
#include <stdint.h>

struct map64_entry {
    uint64_t key;
    uint32_t value;
    bool used;
};

struct map64 {
    struct map64_entry *entries;
    uint32_t capacity; /* a power of two */
    uint32_t count;
    struct map64_entry *old; /* as it was before it grew; NULL: all is moved */
    uint32_t old_capacity, moved;
};

/* The value's place, until the next call. added: the key was not there, and its value is 0.
 * NULL: out of memory. */
uint32_t *map64_put(struct map64 *map, uint64_t key, bool *added);
/* The key's value; 0 when it is not there. */
uint32_t map64_find(const struct map64 *map, uint64_t key);
void map64_free(struct map64 *map);

#endif
