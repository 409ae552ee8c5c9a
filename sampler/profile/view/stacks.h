/*
 * stacks.h - the different stacks of one chunk's samples: most have one that others have too.
 *
 *   a view's samples -> stacks_add -> slots (those with samples) -> functions counted, once a stack
 *
 * Ownership  All zeros has no room; stacks_free ends it.
 * Errors     stacks_begin: 0 or -ISOSCOPE_NO_MEMORY.
 */
#ifndef ISOSCOPE_STACKS_H
#define ISOSCOPE_STACKS_H

#include "../store/chunk.h"

struct stack {
    uint16_t caller, leaf;
    uint32_t samples; /* 0: no stack */
};

struct stacks {
    struct stack *slots;
    uint32_t slot_count, room; /* room: of the slots that there is memory for */
};

/* Empty, with room for so many different ones. */
int stacks_begin(struct stacks *stacks, uint32_t count_max);
/* times: at least 1. */
void stacks_add(struct stacks *stacks, uint16_t caller, uint16_t leaf, uint32_t times);
void stacks_free(struct stacks *stacks);

/* for (walk = walk_begin(chunk, leaf, caller); !walk.ended; walk_on(&walk)): the frame numbers,
 * leaf first. */
struct walk {
    const struct chunk *chunk;
    uint16_t frame, caller;
    bool ended;
};

static inline struct walk walk_begin(const struct chunk *chunk, uint16_t leaf, uint16_t caller)
{
    return (struct walk){ chunk, leaf, caller, false };
}

static inline void walk_on(struct walk *walk)
{
    struct chunk_node node = walk->chunk->nodes[walk->caller];

    walk->ended = walk->caller == 0;
    walk->frame = node.frame;
    walk->caller = node.parent;
}

#endif
