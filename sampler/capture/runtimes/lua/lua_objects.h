/*
 * lua_objects.h - Lua's CallInfo, Proto and TString, as they lie in memory.
 *
 * Signals    SIGNAL_SAFE. Types are checked, and counts bounded.
 * Errors     False, 0: it is none, or cannot be read.
 */
#ifndef ISOSCOPE_LUA_OBJECTS_H
#define ISOSCOPE_LUA_OBJECTS_H

#include "lua.h"

/* Bits of a type's byte. */
enum lua_type {
    LUA_COLLECTABLE = 0x40,
    LUA_THREAD = 8,
    LUA_CLOSURE = 6,
    LUA_LIGHT_C_FUNCTION = 0x16,
    LUA_C_CLOSURE = 0x26,
    LUA_SHORT_STRING = 4,
    LUA_LONG_STRING = 0x14,
};

/* Of a CallInfo's status. */
enum lua_status { LUA_IS_C = 2, LUA_IS_FRESH = 4, LUA_IS_TAIL = 0x20, LUA_IS_FINALIZER = 0x80 };

struct lua_call {
    uint64_t at;
    uint64_t function; /* of Lua: its closure; of C: its address */
    uint64_t previous; /* 0: it is the outermost, which runs nothing */
    uint64_t instruction;
    uint16_t status;
};

/* False: it is none. */
SIGNAL_SAFE bool lua_read_call(struct runtime_scan *scan, const uint64_t *words, uint64_t at,
                               struct lua_call *out);

/* On to the one before, of which at, previous and status are read: half the time. False: it is none. */
SIGNAL_SAFE bool lua_pass_call(struct runtime_scan *scan, const uint64_t *words,
                               struct lua_call *call);

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
enum { LUA_TEXT_AT = 24 }; /* in a TString */
/* A TString's text. Returns its bytes, room at most; 0: none. */
SIGNAL_SAFE uint32_t lua_put_string(struct runtime_scan *scan, uint64_t string, char *out,
                                    uint32_t room);

#endif
