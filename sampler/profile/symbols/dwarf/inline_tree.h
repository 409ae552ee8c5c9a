/*
 * inline_tree.h - the functions of one unit and what was inlined into them, by address.
 *
 *   .debug_info of one unit -> one walk over its DIEs -> nodes, and which node an address is in
 *
 * Ownership  The user's struct: all zeros is empty, inline_tree_free ends it.
 * Errors     inline_tree_read: 0 or -ISOSCOPE_NO_MEMORY. The walk ends where nonsense begins.
 */
#ifndef ISOSCOPE_INLINE_TREE_H
#define ISOSCOPE_INLINE_TREE_H

#include "spans.h"
#include "unit_dies.h"

enum { NODE_NONE = CUT_NONE };

/* A function, or one inlined into another at one place. */
struct inline_node {
    uint64_t die;    /* place in the unit's .debug_info */
    uint32_t caller; /* the node it is inlined into; NODE_NONE: it is a function of its own */
    uint32_t call_file, call_line; /* where, in the caller */
    uint32_t function;             /* the same for nodes that are inlined from the same one */
};

struct inline_tree {
    struct inline_node *nodes;
    uint32_t count, capacity;
    uint32_t function_count;
    struct cuts by_address;
};

int inline_tree_read(struct inline_tree *out, const struct unit_dies *dies);
void inline_tree_free(struct inline_tree *tree);

#endif
