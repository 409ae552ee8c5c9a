#include "tick_stack.h"

#include "system/pages.h"

#include <stdatomic.h>
#include <stdint.h>

enum { STACKS = 8, STACK_BYTES = 16 * 1024 };

static _Atomic(char *) stacks;
static _Atomic uint32_t used; /* by bit */

/* Ticks of several threads may come at once. */
static SIGNAL_SAFE char *make_stacks(void)
{
    char *made = pages_new(STACKS * STACK_BYTES), *none = NULL;

    if (made && !atomic_compare_exchange_strong_explicit(&stacks, &none, made, memory_order_acq_rel,
                                                         memory_order_acquire)) {
        pages_free(made, STACKS * STACK_BYTES);
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
    for (uint32_t number = 0; number < STACKS; number++)
        if (!(atomic_load_explicit(&used, memory_order_relaxed) >> number & 1) &&
            !(atomic_fetch_or_explicit(&used, 1u << number, memory_order_acquire) >> number & 1))
            return all + (number + 1) * STACK_BYTES;
    return NULL;
}

void tick_stack_give(void *end)
{
    uint32_t number =
        (uint32_t)(((char *)end - atomic_load_explicit(&stacks, memory_order_relaxed)) /
                   STACK_BYTES) -
        1;

    atomic_fetch_and_explicit(&used, ~(1u << number), memory_order_release);
}
