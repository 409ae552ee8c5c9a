/*
 * unit_index.h - what one unit knows of its addresses: line and inlined functions in one search.
 *
 * Ownership  The caller's; unit_index_free ends it.
 * Errors     unit_index_read: 0 or -ISOSCOPE_NO_MEMORY. What cannot be read is not known.
 */
#ifndef ISOSCOPE_UNIT_INDEX_H
#define ISOSCOPE_UNIT_INDEX_H

#include "block_search.h"
#include "inline_tree.h"

#include <stddef.h>

/* Code from its start up to the next row's start. */
struct unit_row {
    uint32_t node;       /* the innermost function; NODE_NONE: not known */
    uint32_t file, line; /* line 0: not known */
};

struct unit_index {
    struct block_search starts; /* of the rows */
    struct unit_row *rows;
    uint32_t row_count;
    struct inline_tree tree; /* without by_address: it is in the rows */
};

int unit_index_read(struct unit_index **out, const struct dwarf_file *file,
                    const struct unit *unit);
void unit_index_free(struct unit_index *index); /* NULL is fine */
size_t unit_index_bytes(const struct unit_index *index);

/* NULL: nothing is known there. */
const struct unit_row *unit_index_find(const struct unit_index *index, uint64_t address);

#endif
