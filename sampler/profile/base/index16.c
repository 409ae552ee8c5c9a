#include "index16.h"

#include "../../include/isoscope/isoscope.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS_MIN = 1024 };

/* 7/8 full at most: the strides stay short, and a slot saved is two bytes of every profile. */
static bool has_room(const struct index16 *index)
{
    return ((uint64_t)index->used + 1) * 8 <= (uint64_t)index->slot_count * 7;
}

static void copy_numbers(struct index16 *to, const struct index16 *from, index16_hash *hash,
                         const void *array)
{
    for (uint32_t i = 0; i < from->slot_count; i++) {
        uint16_t number = from->slots[i];

        if (!number)
            continue;
        struct index16_walk walk = index16_start(to, hash(array, number));

        while (*walk.slot)
            index16_step(to, &walk);
        index16_put(to, &walk, number);
    }
}

int index16_reserve(struct index16 *index, index16_hash *hash, const void *array)
{
    struct index16 larger = { 0 };

    if (has_room(index))
        return 0;
    larger.slot_count = index->slot_count ? index->slot_count * 2 : SLOTS_MIN;
    larger.slots = calloc(larger.slot_count, sizeof(*larger.slots));
    if (!larger.slots)
        return -ISOSCOPE_NO_MEMORY;
    copy_numbers(&larger, index, hash, array);
    free(index->slots);
    *index = larger;
    return 0;
}

void index16_reset(struct index16 *index)
{
    if (index->slots)
        memset(index->slots, 0, index16_bytes(index));
    index->used = 0;
}

void index16_free(struct index16 *index)
{
    free(index->slots);
    *index = (struct index16){ 0 };
}

size_t index16_bytes(const struct index16 *index)
{
    return index->slot_count * sizeof(*index->slots);
}
