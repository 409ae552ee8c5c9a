#include "live_stacks.h"

#include <stdlib.h>
#include <string.h>

enum { BUCKETS_MIN = 64, MALLOC_ADDS = 8 };

static uint32_t hash_of(const uint64_t *frames, uint32_t depth)
{
    uint64_t hash = depth;

    for (uint32_t i = 0; i < depth; i++)
        hash = (hash ^ frames[i]) * UINT64_C(0x9e3779b97f4a7c15) + (hash >> 32);
    return (uint32_t)(hash >> 32);
}

static size_t bytes_of(const struct live_stack *stack)
{
    return sizeof(*stack) + stack->depth * sizeof(*stack->frames) + MALLOC_ADDS;
}

static struct live_stack **bucket_of(const struct live_stacks *stacks, uint32_t hash)
{
    return &stacks->buckets[hash & (stacks->bucket_count - 1)];
}

/* As many as there are stacks, about. Where there is no memory, they stay as they are. */
static void resize(struct live_stacks *stacks, uint32_t bucket_count)
{
    struct live_stacks resized = *stacks;

    resized.bucket_count = bucket_count;
    resized.buckets = calloc(bucket_count, sizeof(*resized.buckets));
    if (!resized.buckets)
        return;
    for (uint32_t i = 0; i < stacks->bucket_count; i++)
        for (struct live_stack *stack = stacks->buckets[i], *next; stack; stack = next) {
            struct live_stack **bucket = bucket_of(&resized, stack->hash);

            next = stack->next;
            stack->next = *bucket;
            *bucket = stack;
        }
    free(stacks->buckets);
    *stacks = resized;
}

static struct live_stack *find(const struct live_stacks *stacks, uint32_t hash,
                               const uint64_t *frames, uint32_t depth)
{
    struct live_stack *stack = stacks->bucket_count ? *bucket_of(stacks, hash) : NULL;

    while (stack && (stack->hash != hash || stack->depth != depth ||
                     memcmp(stack->frames, frames, depth * sizeof(*frames)) != 0))
        stack = stack->next;
    return stack;
}

static struct live_stack *add(struct live_stacks *stacks, uint32_t hash, const uint64_t *frames,
                              uint32_t depth)
{
    struct live_stack *stack = NULL, **bucket;

    if (stacks->count >= stacks->bucket_count)
        resize(stacks, stacks->bucket_count ? stacks->bucket_count * 2 : BUCKETS_MIN);
    if (stacks->bucket_count)
        stack = malloc(sizeof(*stack) + depth * sizeof(*frames));
    if (!stack)
        return NULL;
    bucket = bucket_of(stacks, hash);
    *stack = (struct live_stack){ .next = *bucket, .hash = hash, .depth = depth };
    memcpy(stack->frames, frames, depth * sizeof(*frames));
    *bucket = stack;
    stacks->count++;
    stacks->bytes += bytes_of(stack);
    return stack;
}

struct live_stack *live_stacks_use(struct live_stacks *stacks, const uint64_t *frames,
                                   uint32_t depth)
{
    uint32_t hash = hash_of(frames, depth);
    struct live_stack *stack = find(stacks, hash, frames, depth);

    if (!stack)
        stack = add(stacks, hash, frames, depth);
    if (stack)
        stack->uses++;
    return stack;
}

void live_stacks_leave(struct live_stacks *stacks, struct live_stack *stack)
{
    struct live_stack **link;

    if (--stack->uses)
        return;
    for (link = bucket_of(stacks, stack->hash); *link != stack; link = &(*link)->next)
        ;
    *link = stack->next;
    stacks->count--;
    stacks->bytes -= bytes_of(stack);
    free(stack);
    if (stacks->bucket_count > BUCKETS_MIN && stacks->count < stacks->bucket_count / 4)
        resize(stacks, stacks->bucket_count / 2);
}

void live_stacks_free(struct live_stacks *stacks)
{
    free(stacks->buckets);
    *stacks = (struct live_stacks){ 0 };
}

size_t live_stacks_bytes(const struct live_stacks *stacks)
{
    return stacks->bytes + stacks->bucket_count * sizeof(*stacks->buckets);
}
