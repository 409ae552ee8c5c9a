/*
 * code_die.h - what the walk over a unit needs to know of a function's DIE.
 */
#ifndef ISOSCOPE_CODE_DIE_H
#define ISOSCOPE_CODE_DIE_H

#include "abbrevs.h"

struct code_die {
    uint64_t low, high;
    bool has_low, has_high, high_is_size;
    bool intricate;  /* libdw is to say what code it has */
    uint64_t origin; /* where what was inlined is described; else as it was before */
    uint32_t call_file, call_line;
};

/* The cursor is behind the DIE's code, and then behind the DIE. */
void code_die_read(struct code_die *out, struct cursor *cursor, const struct unit_header *unit,
                   const struct abbrevs *abbrevs, const struct abbrev *abbrev);

#endif
