/*
 * thread_waits.h - what a thread in a system call waits for, in words; and who holds the lock that it waits for.
 *
 *   profile/loops: system_calls.h (names), futex_holder.h (whose lock it is) -> waits, lock_owner
 *
 * Threads    One at a time.
 */
#ifndef ISOSCOPE_THREAD_WAITS_H
#define ISOSCOPE_THREAD_WAITS_H

#include "stack_memory.h"
#include "thread_stacks.h"

#include "../../profile/wall/blocked.h"

struct waits_target {
    const struct thread_stacks *stacks; /* its threads are known */
    struct stack_memory *memory;
    pid_t pid; /* whose descriptors may be looked at; 0: nobody's */
};

/* Fills in waits and lock_owner. */
void thread_waits(const struct waits_target *target, struct stack_thread *thread,
                  const struct blocked *blocked);

/* Whether the call goes on by itself when its thread was stopped for a moment, whatever the program does. */
bool call_goes_on(long call);

#endif
