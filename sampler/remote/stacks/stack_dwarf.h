/*
 * stack_dwarf.h - frames by libunwind, and the unwind data that modules have in memory.
 *
 * Only what a search meets is read, so it begins at once; a file is not needed.
 *
 * Ownership  stack_dwarf_free. Stacks and memory are borrowed.
 * Threads    One at a time.
 */
#ifndef ISOSCOPE_STACK_DWARF_H
#define ISOSCOPE_STACK_DWARF_H

#include "stack_memory.h"
#include "stack_place.h"

/* NULL: there is no memory. */
struct stack_dwarf *stack_dwarf_new(const struct thread_stacks *stacks,
                                    struct stack_memory *memory);
void stack_dwarf_free(struct stack_dwarf *dwarf); /* NULL is fine */

/* Adds the place's callers to the thread's frames. place: becomes the last of them. */
enum stack_stop stack_dwarf_walk(struct stack_dwarf *dwarf, struct stack_place *place,
                                 struct stack_thread *thread);
/* Why the last walk was cut. */
const char *stack_dwarf_why(const struct stack_dwarf *dwarf);

#endif
