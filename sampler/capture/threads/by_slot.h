/*
 * by_slot.h - a table with an item for each thread slot that takes memory for slots in use only.
 *
 * An array of all slots would have megabytes of addresses: mlockall locks them, and a collector
 * that looks for pointers (Boehm's) reads what is static.
 *
 * Ownership  Blocks are made when first reached, stay where they are, and are kept for good.
 * Threads    Any.
 * Signals    SIGNAL_SAFE, but for by_slot_begin and by_slot_free.
 * Errors     by_slot_reach: false when the kernel has no memory.
 */
#ifndef ISOSCOPE_BY_SLOT_H
#define ISOSCOPE_BY_SLOT_H

#include "../../feed/layout.h"
#include "../system/pages.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { BY_SLOT_BLOCK = 32, BY_SLOT_BLOCKS = FEED_THREADS_MAX / BY_SLOT_BLOCK };

struct by_slot {
    _Atomic(char *) blocks[BY_SLOT_BLOCKS]; /* none stands behind one that is not there */
};

/* item_bytes: the same in all calls. NULL: it was not reached yet. */
SIGNAL_SAFE_INLINE void *by_slot_at(const struct by_slot *table, uint32_t slot, size_t item_bytes)
{
    char *block = atomic_load_explicit(&table->blocks[slot / BY_SLOT_BLOCK], memory_order_acquire);

    return block ? block + slot % BY_SLOT_BLOCK * item_bytes : NULL;
}

SIGNAL_SAFE_INLINE bool by_slot_make(_Atomic(char *) *block, size_t bytes)
{
    char *made = pages_new(bytes), *none = NULL;

    if (made && !atomic_compare_exchange_strong_explicit(block, &none, made, memory_order_acq_rel,
                                                         memory_order_acquire))
        pages_free(made, bytes);
    return made != NULL;
}

static inline size_t by_slot_block_bytes(size_t item_bytes)
{
    return BY_SLOT_BLOCK * item_bytes;
}

/* The first block lies in memory of the caller's, that stays. */
static inline void by_slot_begin(struct by_slot *table, void *block)
{
    atomic_store_explicit(&table->blocks[0], block, memory_order_release);
}

/* Makes the item, zeros at first, and all below it. */
SIGNAL_SAFE_INLINE bool by_slot_reach(struct by_slot *table, uint32_t slot, size_t item_bytes)
{
    if (by_slot_at(table, slot, item_bytes))
        return true;
    for (uint32_t i = 0; i <= slot / BY_SLOT_BLOCK; i++)
        if (!atomic_load_explicit(&table->blocks[i], memory_order_acquire) &&
            !by_slot_make(&table->blocks[i], BY_SLOT_BLOCK * item_bytes))
            return false;
    return true;
}

/* Gives all of it back. */
static inline void by_slot_free(struct by_slot *table, size_t item_bytes)
{
    for (uint32_t i = 0; i < BY_SLOT_BLOCKS; i++)
        pages_free(atomic_exchange_explicit(&table->blocks[i], NULL, memory_order_relaxed),
                   BY_SLOT_BLOCK * item_bytes);
}

#endif
