#include "numbering.h"

#include <stdlib.h>

enum { SLOTS_FIRST = 256 };

static uint32_t place_of(const struct numbering *numbering, uint64_t first, uint64_t second)
{
    uint64_t hash = (first ^ second * UINT64_C(0xff51afd7ed558ccd)) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t mask = numbering->slot_count - 1, place = (uint32_t)(hash >> 32) & mask;

    while (numbering->slots[place].number &&
           (numbering->slots[place].first != first || numbering->slots[place].second != second))
        place = (place + 1) & mask;
    return place;
}

/* False: out of memory. */
static bool make_room(struct numbering *numbering)
{
    struct numbering before = *numbering;

    if (2 * numbering->count < numbering->slot_count)
        return true;
    numbering->slot_count = before.slot_count ? 2 * before.slot_count : SLOTS_FIRST;
    numbering->slots = calloc(numbering->slot_count, sizeof(*numbering->slots));
    if (!numbering->slots) {
        *numbering = before;
        return false;
    }
    for (uint32_t i = 0; i < before.slot_count; i++)
        if (before.slots[i].number)
            numbering->slots[place_of(numbering, before.slots[i].first, before.slots[i].second)] =
                before.slots[i];
    free(before.slots);
    return true;
}

uint32_t numbering_of(struct numbering *numbering, uint64_t first, uint64_t second, bool *is_new)
{
    struct numbering_slot *slot;

    *is_new = false;
    if (!make_room(numbering)) {
        numbering->failed = true;
        return 0;
    }
    slot = &numbering->slots[place_of(numbering, first, second)];
    if (!slot->number) {
        *slot = (struct numbering_slot){ first, second, ++numbering->count };
        *is_new = true;
    }
    return slot->number - 1;
}

void numbering_free(struct numbering *numbering)
{
    free(numbering->slots);
    *numbering = (struct numbering){ 0 };
}
