/*
 * stacks.h - the different stacks of a window: most samples have one that others have too.
 *
 *   window (its samples) -> stacks -> functions named and counted, once a stack
 *
 * Ownership  All zeros is an empty list; stacks_free ends it. It refers to the views by index.
 * Errors     0 or -ISOSCOPE_NO_MEMORY.
 */
#ifndef ISOSCOPE_STACKS_H
#define ISOSCOPE_STACKS_H

#include "store.h"
#include "window.h"

struct stack {
    uint32_t view;
    uint16_t caller, leaf;
    uint64_t samples;
};

struct stacks {
    struct stack *list;
    uint32_t count, capacity;
    int64_t last_us; /* of the latest sample; where there is one */
};

/* The window is then before its first batch. */
int stacks_find(struct stacks *stacks, struct window *window);
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
