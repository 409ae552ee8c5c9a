/*
 * index16.h - finds the number (1 to 65,535) of an entry in somebody's array by its content.
 *
 * The index holds numbers only, two bytes each: the content stays where it is, and the user
 * compares. So it is small enough to be counted among a store's bytes.
 *
 *     if (index16_reserve(&index, hash_of_entry, array) < 0)
 *         return -ISOSCOPE_NO_MEMORY;
 *     for (walk = index16_start(&index, hash); (number = *walk.slot); index16_step(&index, &walk))
 *         if (same(array[number], wanted))
 *             return number;
 *     index16_put(&index, &walk, new_number);
 *
 * Threads    One at a time.
 * Errors     index16_reserve: 0 or -ISOSCOPE_NO_MEMORY.
 */
#ifndef ISOSCOPE_INDEX16_H
#define ISOSCOPE_INDEX16_H

#include <stddef.h>
#include <stdint.h>

struct index16 {
    uint16_t *slots; /* 0: empty */
    uint32_t slot_count;
    uint32_t used;
};

struct index16_walk {
    uint16_t *slot;
    uint32_t place, stride;
};

typedef uint64_t index16_hash(const void *array, uint16_t number);

/* Makes sure that a walk ends and one more number has room. */
int index16_reserve(struct index16 *index, index16_hash *hash, const void *array);
/* Empties it; keeps the memory. */
void index16_reset(struct index16 *index);
void index16_free(struct index16 *index);
size_t index16_bytes(const struct index16 *index);

/* Spreads the bits of a key; the index uses the low ones. */
static inline uint64_t index16_mix(uint64_t key)
{
    key ^= key >> 32;
    key *= UINT64_C(0x9e3779b97f4a7c15);
    return key ^ key >> 29;
}

static inline struct index16_walk index16_start(struct index16 *index, uint64_t hash)
{
    uint32_t place = (uint32_t)hash & (index->slot_count - 1);

    return (struct index16_walk){ &index->slots[place], place, 0 };
}

/* Growing strides visit every slot of a power of two once, and do not pile up when it is full. */
static inline void index16_step(struct index16 *index, struct index16_walk *walk)
{
    walk->place = (walk->place + ++walk->stride) & (index->slot_count - 1);
    walk->slot = &index->slots[walk->place];
}

static inline void index16_put(struct index16 *index, struct index16_walk *walk, uint16_t number)
{
    *walk->slot = number;
    index->used++;
}

#endif
