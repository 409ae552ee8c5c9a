/*
 * scope.h - the namespaces, classes and functions that a DIE is in, as the source would write them.
 *
 * Only a name that is not mangled needs it: that of a static function, of a lambda, of all that is
 * in an unnamed namespace.
 */
#ifndef ISOSCOPE_SCOPE_H
#define ISOSCOPE_SCOPE_H

#include "scope_map.h"

/*
 * "shop::fill::{lambda}", from malloc; NULL: it is in none, or no memory. A function is named
 * only where a class of its own holds the DIE, as a lambda's does. place: in the unit's info.
 */
char *scope_of(const struct scope_map *map, const struct unit_dies *dies, uint64_t place);

#endif
