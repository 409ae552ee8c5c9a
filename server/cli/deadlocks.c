#include "deadlocks.h"

#include <stdbool.h>

/* UINT32_MAX: it waits for none that is known. */
static uint32_t holder_of(const struct thread_stacks *stacks, uint32_t thread)
{
    pid_t holder = stacks->threads[thread].lock_owner;

    for (uint32_t i = 0; holder && i < stacks->thread_count; i++)
        if (stacks->threads[i].tid == holder)
            return i;
    return UINT32_MAX;
}

uint32_t deadlock_from(const struct thread_stacks *stacks, uint32_t thread, uint32_t *ring)
{
    uint32_t count = 0, at = thread;

    do {
        ring[count++] = at;
        at = holder_of(stacks, at);
        if (at == UINT32_MAX || at < thread)
            return 0;
    } while (at != thread && count < stacks->thread_count);
    return at == thread ? count : 0;
}
