/*
 * lua.h - Lua's frames in the places of its interpreter's: Lua 5.4, as Debian builds it, x86-64.
 *
 *   lua_finder.c -> words -> lua_frames (lua_code.h: names, files, lines; lua_objects.h: what is read)
 *
 * luaV_execute runs a Lua function and those that it calls; what C calls begins one of its own. Its native frame
 * keeps the CallInfo that runs in rbp and the function in its stack: so each native frame tells itself what it
 * stands for, the CallInfo and those before it up to one that is fresh. Nothing leads from a program to its
 * lua_State, and nothing is needed.
 *
 * C functions stand above their callers, where the caller's instruction has a name for them. Of a coroutine that
 * was resumed, what waits for it below a C function (pcall) has no native frame any more: it stands in
 * lua_resume's place.
 *
 * Position   The line.
 *
 * Signals    SIGNAL_SAFE. A CallInfo is believed where its function is the native frame's.
 * Source     Lua 5.4's lstate.h, lobject.h, lopcodes.h, ldo.c
 */
#ifndef ISOSCOPE_LUA_H
#define ISOSCOPE_LUA_H

#include "../runtime_scan.h"

/* Words of the entry. */
enum lua_word {
    LUA_FUNCTION_SLOT, /* in luaV_execute's stack frame, from sp on: the closure */
    LUA_ENTERED,       /* address: from here on the frame is whole */
    /* Offsets. */
    LUA_STATE_CALL,
    LUA_STATE_FIRST_CALL, /* in it: the outermost CallInfo */
    LUA_CALL_FUNCTION,
    LUA_CALL_PREVIOUS,
    LUA_CALL_INSTRUCTION,
    LUA_CALL_STATUS, /* uint16_t */
    LUA_CLOSURE_PROTO,
    LUA_PROTO_CONSTANT_COUNT,
    LUA_PROTO_CODE_COUNT,
    LUA_PROTO_LINE_COUNT,
    LUA_PROTO_LOCAL_COUNT,
    LUA_PROTO_UPVALUE_COUNT,
    LUA_PROTO_ANCHOR_COUNT, /* of absolute lines */
    LUA_PROTO_FIRST_LINE,
    LUA_PROTO_LAST_LINE,
    LUA_PROTO_CONSTANTS,
    LUA_PROTO_CODE,
    LUA_PROTO_UPVALUES,
    LUA_PROTO_LINES,
    LUA_PROTO_ANCHORS,
    LUA_PROTO_LOCALS,
    LUA_PROTO_SOURCE,
    LUA_WORDS
};
static_assert((int)LUA_WORDS <= (int)FEED_RUNTIME_WORDS_MAX, "layout");

/* In feed_runtime_range.what. */
enum lua_range {
    LUA_EXECUTES, /* luaV_execute */
    LUA_RESUMES,  /* lua_resume */
    LUA_CALLS,    /* luaD_precall, whose native frame C functions are called from */
};

/* In runtime_cursor.words. */
enum lua_cursor {
    LUA_AT_CALL,   /* the CallInfo before the last that was put; 0: not known */
    LUA_BEGUN,     /* a native frame of luaV_execute was passed */
    LUA_PREPARING, /* the leaf is in luaD_precall: a C function is not called yet, or has returned */
};

SIGNAL_SAFE uint32_t lua_frames(struct runtime_scan *scan, uint32_t entry,
                                const struct runtime_native *native);

#endif
