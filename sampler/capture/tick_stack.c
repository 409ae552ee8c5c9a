#include "tick_stack.h"

#include "system/pages.h"

#include <stdatomic.h>
#include <stdint.h>

static _Atomic(char *) stacks;
static _Atomic uint32_t used; /* by bit */

/* Ticks of several threads may come at once. */
static SIGNAL_SAFE char *make_stacks(void)
{
    char *made = pages_new(TICK_STACKS * TICK_STACK_BYTES), *none = NULL;

    if (made && !atomic_compare_exchange_strong_explicit(&stacks, &none, made, memory_order_acq_rel,
                                                         memory_order_acquire)) {
        pages_free(made, TICK_STACKS * TICK_STACK_BYTES);
        made = none;
    }
    return made;
}

/* Read first: what is zero is not written to, for that costs a page. */
void tick_stacks_forget_parent(void)
{
    if (atomic_load(&used))
        atomic_store(&used, 0);
}

void *tick_stack_take(void)
{
    char *all = atomic_load_explicit(&stacks, memory_order_acquire);

    if (!all && !(all = make_stacks()))
        return NULL;
    for (uint32_t number = 0; number < TICK_STACKS; number++)
        if (!(atomic_load_explicit(&used, memory_order_relaxed) >> number & 1) &&
            !(atomic_fetch_or_explicit(&used, 1u << number, memory_order_acquire) >> number & 1))
            return all + (number + 1) * TICK_STACK_BYTES;
    return NULL;
}

void tick_stack_give(void *end)
{
    uint32_t number =
        (uint32_t)(((char *)end - atomic_load_explicit(&stacks, memory_order_relaxed)) /
                   TICK_STACK_BYTES) -
        1;

    atomic_fetch_and_explicit(&used, ~(1u << number), memory_order_release);
}

uint32_t tick_stack_number(uint64_t address)
{
    uint64_t all = (uint64_t)atomic_load_explicit(&stacks, memory_order_acquire);

    return all && address >= all && address < all + TICK_STACKS * TICK_STACK_BYTES
               ? (uint32_t)((address - all) / TICK_STACK_BYTES)
               : TICK_STACKS;
}
