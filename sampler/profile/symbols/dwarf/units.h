/*
 * units.h - the compilation units of a module, and which one an address is in.
 *
 * Each unit's own word for it is taken (DW_AT_ranges, or DW_AT_low_pc and DW_AT_high_pc): it costs
 * one DIE per unit, and unlike .debug_aranges no compiler leaves it out.
 *
 * Ownership  The user's struct: all zeros is empty, units_free ends it.
 * Errors     units_read: 0 or -ISOSCOPE_NO_MEMORY. Units end where nonsense begins.
 */
#ifndef ISOSCOPE_UNITS_H
#define ISOSCOPE_UNITS_H

#include "block_search.h"
#include "dwarf_file.h"
#include "spans.h"
#include "unit_shape.h"

enum { UNIT_NONE = CUT_NONE };
#define NO_LINE_TABLE UINT64_MAX

struct unit {
    struct unit_header header;
    uint64_t line_table;     /* place in .debug_line, or NO_LINE_TABLE */
    const char *comp_dir;    /* in the file's sections; NULL: not known */
    bool types_without_code; /* functions are defined outside of classes, as in C++ */
    bool scopes;             /* functions may be in namespaces and classes, unlike in C */
    bool split;              /* a skeleton: its DIEs are in a .dwo file */
};

struct units {
    struct unit *units;
    uint32_t count, capacity;
    struct block_search starts; /* of ranges of code */
    uint32_t *owners;           /* of these ranges: a unit, or UNIT_NONE */
};

int units_read(struct units *out, const struct dwarf_file *file);
void units_free(struct units *units);

/* The unit that has code there; UNIT_NONE: there is none. */
uint32_t units_at(const struct units *units, uint64_t address);
/* The one that holds this place of .debug_info. */
uint32_t units_holding(const struct units *units, uint64_t place);

#endif
