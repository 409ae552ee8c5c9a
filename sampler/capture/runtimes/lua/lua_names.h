/*
 * lua_names.h - what the instruction that calls a function calls it.
 *
 * As Lua's own messages do, which look back for what put the function into its register: a global's, a field's
 * or a method's name, a local variable's, an upvalue's; "for iterator"; of metamethods "__index", "__gc".
 *
 * Signals    SIGNAL_SAFE.
 * Errors     0: it has no name.
 */
#ifndef ISOSCOPE_LUA_NAMES_H
#define ISOSCOPE_LUA_NAMES_H

#include "lua_objects.h"

/* Returns the name's bytes, room at most. */
SIGNAL_SAFE uint32_t lua_put_called_name(struct runtime_scan *scan, const uint64_t *words,
                                         const struct lua_call *called, char *out, uint32_t room);

#endif
