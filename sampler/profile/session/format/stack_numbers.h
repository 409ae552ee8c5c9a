/*
 * stack_numbers.h - callers and leaves of a chunk's samples in small numbers: most samples have the
 * stack of one before.
 *
 * Callers are numbered from 1 in the order in which they come, and the leaves of each caller in the
 * order in which they come with it. 0 says: a new one. A caller is then told by how much it is above
 * the largest so far, a leaf as a callee of the caller's frame (callees.h).
 *
 * Ownership  The user's structs: all zeros is before the first sample; the _free functions end them.
 * Errors     Without memory a thing is new each time (writing), or the reason says so (reading).
 */
#ifndef ISOSCOPE_SESSION_STACK_NUMBERS_H
#define ISOSCOPE_SESSION_STACK_NUMBERS_H

#include "../../store/chunk.h"
#include "callees.h"

/* Columns of them. */
struct stack_columns {
    struct bytes *caller, *new_caller, *leaf, *new_leaf, *new_frame;
};

struct stack_writing {
    struct map64 callers;     /* -> number */
    struct map64 leaves;      /* caller and leaf -> number */
    struct map64 leaf_counts; /* by caller */
    uint32_t caller_count, caller_max;
    struct callee_writing callees; /* nodes' frames too */
};

void stack_write(struct stack_writing *writing, const struct chunk *chunk, uint16_t caller,
                 uint16_t leaf, const struct stack_columns *to);
void stack_writing_free(struct stack_writing *writing);

struct stack_reading {
    struct frame_list *lists; /* leaves, by number of the caller - 1 */
    uint16_t *callers;
    uint32_t caller_count, list_capacity, caller_capacity;
    uint32_t caller_max;
    struct callee_reading callees;
};

struct stack_column_readers {
    struct column *caller, *new_caller, *leaf, *new_leaf, *new_frame;
};

/* nodes, frames: below them they must be. NULL, or why it cannot be. */
const char *stack_read(struct stack_reading *reading, const struct chunk *chunk,
                       const struct stack_column_readers *from, uint32_t nodes, uint32_t frames,
                       uint16_t *caller, uint16_t *leaf);
void stack_reading_free(struct stack_reading *reading);

#endif
