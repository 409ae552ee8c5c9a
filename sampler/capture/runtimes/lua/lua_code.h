/*
 * lua_code.h - what a CallInfo of Lua runs, by name, file and line, as it is told to the feed.
 *
 * Functions of Lua have no names. One is called what the first call of it that was met says (lua_names.h):
 * "area"; as long as none says anything, "function <shapes.lua:12>". The code of a file or a text is "main chunk".
 * C functions have the file "[C]".
 *
 * Signals    SIGNAL_SAFE.
 * Errors     What cannot be read has no frame; a C function that nothing names has none either.
 */
#ifndef ISOSCOPE_LUA_CODE_H
#define ISOSCOPE_LUA_CODE_H

#include "lua_objects.h"

/* instruction: newer than the call's, where it lies in the function. False: nothing was put. */
SIGNAL_SAFE bool lua_put_call(struct runtime_scan *scan, uint32_t entry,
                              const struct lua_call *call, uint64_t instruction);

#endif
