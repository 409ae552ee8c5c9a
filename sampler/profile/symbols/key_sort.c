#include "key_sort.h"

#include "../../include/isoscope/isoscope.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A pass has to clear and sum up its counts: for few keys, insertion is cheaper. */
enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS, KEY_BITS = 64, FEW = 48 };

static bool is_sorted(const struct sort_key *keys, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (keys[i - 1].key > keys[i].key)
            return false;
    return true;
}

static void insertion_sort(struct sort_key *keys, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        struct sort_key key = keys[i];
        uint32_t at = i;

        for (; at > 0 && keys[at - 1].key > key.key; at--)
            keys[at] = keys[at - 1];
        keys[at] = key;
    }
}

static uint8_t digit_of(uint64_t key, uint32_t shift)
{
    return (uint8_t)(key >> shift);
}

static void sort_by_digit(const struct sort_key *from, struct sort_key *to, uint32_t count,
                          uint32_t shift)
{
    uint32_t places[DIGITS] = { 0 }, before = 0;

    for (uint32_t i = 0; i < count; i++)
        places[digit_of(from[i].key, shift)]++;
    for (uint32_t i = 0; i < DIGITS; i++) {
        uint32_t here = places[i];

        places[i] = before;
        before += here;
    }
    for (uint32_t i = 0; i < count; i++)
        to[places[digit_of(from[i].key, shift)]++] = from[i];
}

/* The bits in which not all keys are the same. */
static uint64_t varying_bits(const struct sort_key *keys, uint32_t count)
{
    uint64_t bits = 0;

    for (uint32_t i = 1; i < count; i++)
        bits |= keys[i].key ^ keys[0].key;
    return bits;
}

int key_sort(struct sort_key *keys, uint32_t count)
{
    struct sort_key *room, *from = keys, *to;
    uint64_t varying;

    if (is_sorted(keys, count))
        return 0;
    if (count <= FEW) {
        insertion_sort(keys, count);
        return 0;
    }
    to = room = reallocarray(NULL, count, sizeof(*room));
    if (!room)
        return -ISOSCOPE_NO_MEMORY;
    varying = varying_bits(keys, count);
    for (uint32_t shift = 0; shift < KEY_BITS; shift += DIGIT_BITS) {
        struct sort_key *sorted = to;

        if (!digit_of(varying, shift))
            continue;
        sort_by_digit(from, to, count, shift);
        to = from;
        from = sorted;
    }
    if (from != keys)
        memcpy(keys, from, count * sizeof(*keys));
    free(room);
    return 0;
}
