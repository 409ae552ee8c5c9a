/*
 * stack_tables.h - frames by our own unwind tables, for what has none that libunwind finds in memory.
 *
 *   a module's file -> profile/unwinding/table_source.h -> capture/unwind/unwind.h
 *
 * A static program's file has unwind data, but no header for it; Go's is in its debug information. A table is made when a
 * stack first leads into its module.
 *
 * Ownership  stack_tables_free. Stacks and memory are borrowed.
 * Threads    One at a time.
 */
#ifndef ISOSCOPE_STACK_TABLES_H
#define ISOSCOPE_STACK_TABLES_H

#include "stack_memory.h"
#include "stack_place.h"

/* NULL: there is no memory. */
struct stack_tables *stack_tables_new(const struct thread_stacks *stacks,
                                      struct stack_memory *memory);
void stack_tables_free(struct stack_tables *tables); /* NULL is fine */

/* As stack_dwarf_walk. before: what it gives where the place has no table. */
enum stack_stop stack_tables_walk(struct stack_tables *tables, struct stack_place *place,
                                  struct stack_thread *thread, enum stack_stop before);

#endif
