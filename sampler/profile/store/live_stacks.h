/*
 * live_stacks.h - the stacks of what lives, each of them once.
 *
 *   live_sets (one comes, one goes) -> live_stacks
 *
 * Ownership  The user's struct; all zeros has none. A stack lives while somebody uses it.
 * Threads    One at a time.
 */
#ifndef ISOSCOPE_LIVE_STACKS_H
#define ISOSCOPE_LIVE_STACKS_H

#include <stddef.h>
#include <stdint.h>

struct live_stack {
    struct live_stack *next; /* in its bucket */
    uint32_t hash, uses, depth;
    uint64_t frames[];
};

struct live_stacks {
    struct live_stack **buckets;
    uint32_t bucket_count; /* a power of two, or 0 */
    uint32_t count;
    size_t bytes; /* of all, with what malloc adds, and without the buckets */
};

/* With one use more. NULL: out of memory. */
struct live_stack *live_stacks_use(struct live_stacks *stacks, const uint64_t *frames,
                                   uint32_t depth);
void live_stacks_leave(struct live_stacks *stacks, struct live_stack *stack);
/* After all are left. */
void live_stacks_free(struct live_stacks *stacks);
size_t live_stacks_bytes(const struct live_stacks *stacks);

#endif
