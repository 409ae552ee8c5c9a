/*
 * v8_code.h - a JavaScript function (SharedFunctionInfo): who it is, and its id in codes.
 *
 *   v8.c, v8_machine.c -> v8_shared_read -> v8_code_id
 *
 * V8 moves these objects: after that one is met as new, and found again by its content.
 *
 * Signals    SIGNAL_SAFE.
 */
#ifndef ISOSCOPE_V8_CODE_H
#define ISOSCOPE_V8_CODE_H

#include "v8_objects.h"

/* What tells a function from others. */
struct v8_shared {
    uint64_t shared;
    uint64_t name;     /* String; 0: it has none */
    uint64_t script;   /* 0: it is built in */
    uint64_t source;   /* String; 0: it is not there */
    uint64_t identity; /* a hash of these, and of what they hold */
    int32_t start;     /* place in the script; -1: not known */
};

SIGNAL_SAFE bool v8_shared_read(const struct v8_walk *walk, uint64_t shared, struct v8_shared *out);

/* Its BytecodeArray, which baseline code has too. False: it has not been compiled, or is built in. */
SIGNAL_SAFE bool v8_shared_bytecode(const struct v8_walk *walk, uint64_t shared, uint64_t *out);

/* Name and file, into scan->texts. False: there is nothing to show. */
SIGNAL_SAFE bool v8_shared_texts(const struct v8_walk *walk, const struct v8_shared *shared,
                                 struct feed_code_text *out);
/* UTF-16 units of its script; 0: not known. */
SIGNAL_SAFE uint32_t v8_source_length(const struct v8_walk *walk, const struct v8_shared *shared);

/* The id of its code as bytecode; table: its source positions (ByteArray), 0: it has none, and positions are
 * places in the script. False: there is nothing to show. */
SIGNAL_SAFE bool v8_code_id(const struct v8_walk *walk, const struct v8_shared *shared,
                            uint64_t table, uint32_t *out);

/* An array of bytes, all or nothing. */
SIGNAL_SAFE bool v8_bytes(const struct v8_walk *walk, uint64_t array, uint8_t *out, uint32_t room,
                          uint32_t *bytes);

#endif
