/*
 * scope_map.h - which namespaces, classes and functions a DIE of one unit is in.
 *
 * A DIE does not say what it is in: one has to come to it from above. That is done once for a whole
 * unit, skipping all that is no namespace, and leaves a signpost at every 64th DIE. From the
 * nearest signpost it is not far to any place.
 *
 * Ownership  The caller's; scope_map_free ends it. Nothing in it is libdw's.
 * Errors     scope_map_read: 0 or -ISOSCOPE_NO_MEMORY. It ends where nonsense begins.
 */
#ifndef ISOSCOPE_SCOPE_MAP_H
#define ISOSCOPE_SCOPE_MAP_H

#include "unit_dies.h"

#include <stddef.h>

enum { SCOPE_PARENTS_MAX = 32 }; /* of one DIE; what is deeper is left out */

struct scope_parent {
    uint64_t place; /* in the unit's info */
    uint16_t tag;   /* DW_TAG_* */
};

struct scope_map;

int scope_map_read(struct scope_map **out, const struct unit_dies *dies);
void scope_map_free(struct scope_map *map); /* NULL is fine */
size_t scope_map_bytes(const struct scope_map *map);

/* dies: as when it was read. Outermost first. Returns how many; 0 also when no DIE is there. */
uint32_t scope_map_find(const struct scope_map *map, const struct unit_dies *dies, uint64_t place,
                        struct scope_parent out[SCOPE_PARENTS_MAX]);

#endif
