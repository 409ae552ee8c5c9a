/*
 * unit_dies.h - where the DIEs of a unit are: in the module's debug data, or in a .dwo file.
 *
 * Errors     unit_dies_find: false: its .dwo file is not there, or no unit is in it.
 */
#ifndef ISOSCOPE_UNIT_DIES_H
#define ISOSCOPE_UNIT_DIES_H

#include "units.h"

struct unit_dies {
    struct unit_header header;
    struct bytes info, abbrev;
    Dwarf *dwarf;
    uint64_t code_start, code_end;
    bool types_without_code;
};

/* After each dwarf_file_reopen anew. */
bool unit_dies_find(struct unit_dies *out, const struct dwarf_file *file, const struct unit *unit);

/* place: in info. */
static inline bool unit_dies_at(const struct unit_dies *dies, uint64_t place, Dwarf_Die *out)
{
    return dwarf_offdie(dies->dwarf, place, out) != NULL;
}

#endif
