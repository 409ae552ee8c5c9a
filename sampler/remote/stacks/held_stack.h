/*
 * held_stack.h - the stack of one thread that is held, by its registers.
 *
 * Threads    The one that holds it.
 */
#ifndef ISOSCOPE_HELD_STACK_H
#define ISOSCOPE_HELD_STACK_H

#include "stack_registers.h"
#include "thread_stacks.h"

/* As thread_stacks_of_process, of this thread alone. NULL: its mappings cannot be read, or there is no memory. */
struct thread_stacks *held_stack(pid_t pid, const struct user_regs_struct *registers);

#endif
