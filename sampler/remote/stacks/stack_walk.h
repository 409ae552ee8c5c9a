/*
 * stack_walk.h - registers and memory in, frames out.
 *
 *   stack_walk: stack_dwarf.h, as far as modules have a table of unwind data in memory (libunwind)
 *            -> stack_tables.h, where a file has more: a static program's, Go's (our own tables)
 *            -> stack_guess.h, one frame, where there is none; and from its caller on as before
 *
 * Ownership  stack_walker_free. Frames are the thread's.
 * Threads    One at a time.
 */
#ifndef ISOSCOPE_STACK_WALK_H
#define ISOSCOPE_STACK_WALK_H

#include "stack_memory.h"
#include "stack_place.h"

struct stack_walker;

/* NULL: there is no memory. Both are borrowed. */
struct stack_walker *stack_walker_new(const struct thread_stacks *stacks,
                                      struct stack_memory *memory);
void stack_walker_free(struct stack_walker *walker); /* NULL is fine */

/* Fills in frames, depth, complete and why. False: there is no memory. */
bool stack_walk(struct stack_walker *walker, const struct stack_registers *registers,
                struct stack_thread *thread);

#endif
