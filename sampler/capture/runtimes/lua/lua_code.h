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

#include "lua.h"

/* What naming and lines need of a function's Proto. */
struct lua_proto {
    uint64_t at, code, constants, upvalues, lines, anchors, locals, source;
    int32_t code_count, constant_count, upvalue_count, line_count, anchor_count, local_count;
    int32_t first_line, last_line;
};

/* call: of Lua. False: it runs none. */
SIGNAL_SAFE bool lua_read_proto(struct runtime_scan *scan, const uint64_t *words,
                                const struct lua_call *call, struct lua_proto *out);
/* The number of the instruction that runs, or calls. instruction: the one that follows. False: it is none. */
SIGNAL_SAFE bool lua_place(const struct lua_proto *proto, uint64_t instruction, uint32_t *out);
/* A TString's text. Returns its bytes, room at most; 0: none. */
SIGNAL_SAFE uint32_t lua_put_string(struct runtime_scan *scan, uint64_t string, char *out,
                                    uint32_t room);

/* instruction: newer than the call's, where it lies in the function. False: nothing was put. */
SIGNAL_SAFE bool lua_put_call(struct runtime_scan *scan, uint32_t entry,
                              const struct lua_call *call, uint64_t instruction);

#endif
