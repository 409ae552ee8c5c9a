/*
 * deadlocks.h - threads that wait for each other in a ring.
 */
#ifndef ISOSCOPE_DEADLOCKS_H
#define ISOSCOPE_DEADLOCKS_H

#include "../../sampler/remote/stacks/thread_stacks.h"

/* The next ring whose lowest tid belongs to this thread, which is told once: fills ring with its threads' places, from it on.
 * Returns how many; 0: it begins none. room: as many as there are threads. */
uint32_t deadlock_from(const struct thread_stacks *stacks, uint32_t thread, uint32_t *ring);

#endif
