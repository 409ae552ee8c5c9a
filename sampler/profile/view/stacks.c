#include "stacks.h"

#include "../../include/isoscope/isoscope.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS_MIN = 64 };

void stacks_free(struct stacks *stacks)
{
    free(stacks->slots);
    *stacks = (struct stacks){ 0 };
}

int stacks_begin(struct stacks *stacks, uint32_t count_max)
{
    uint32_t slot_count = SLOTS_MIN;

    while (slot_count < 2 * count_max)
        slot_count *= 2;
    if (slot_count <= stacks->room) {
        memset(stacks->slots, 0, slot_count * sizeof(*stacks->slots));
    } else {
        stacks_free(stacks);
        stacks->slots = calloc(slot_count, sizeof(*stacks->slots));
        if (!stacks->slots)
            return -ISOSCOPE_NO_MEMORY;
        stacks->room = slot_count;
    }
    stacks->slot_count = slot_count;
    return 0;
}

void stacks_add(struct stacks *stacks, uint16_t caller, uint16_t leaf, uint32_t times)
{
    uint32_t mask = stacks->slot_count - 1;
    uint32_t at = (uint32_t)index16_mix((uint64_t)caller << 16 | leaf) & mask;
    struct stack *slot = &stacks->slots[at];

    while (slot->samples && (slot->caller != caller || slot->leaf != leaf)) {
        at = (at + 1) & mask;
        slot = &stacks->slots[at];
    }
    slot->caller = caller;
    slot->leaf = leaf;
    slot->samples += times;
}
