/*
 * v8_objects.h - objects of V8's heap, and texts in them.
 *
 *   v8.c, v8_code.c, v8_machine.c -> v8_type, v8_field, v8_text -> guarded_memory.h
 *
 * A tagged word is an object's address + 1, or a small number in its upper half.
 *
 * Signals    SIGNAL_SAFE.
 * Errors     False: not readable, or not what it should be.
 */
#ifndef ISOSCOPE_V8_OBJECTS_H
#define ISOSCOPE_V8_OBJECTS_H

#include "v8.h"

enum {
    V8_TAG = 1,
    V8_TAG_MASK = 3,
    V8_TYPE_NOT_STRING = 0x80, /* types from here on are no strings */
    V8_LENGTH = 8,             /* of all arrays: a small number */
    V8_ARRAY_DATA = 16,
};

struct v8_walk {
    struct runtime_scan *scan;
    const uint64_t *words;
    uint32_t entry;
};

SIGNAL_SAFE_INLINE bool v8_is_object(uint64_t word)
{
    return (word & V8_TAG_MASK) == V8_TAG;
}

SIGNAL_SAFE_INLINE bool v8_small(uint64_t word, int32_t *out)
{
    *out = (int32_t)(word >> 32);
    return !(uint32_t)word;
}

SIGNAL_SAFE_INLINE bool v8_field(const struct v8_walk *walk, uint64_t object, uint64_t offset,
                                 uint64_t *out)
{
    return guarded_word(&walk->scan->memory, object - V8_TAG + offset, out);
}

/* Of a small number. */
SIGNAL_SAFE_INLINE bool v8_number(const struct v8_walk *walk, uint64_t object, uint64_t offset,
                                  int32_t *out)
{
    uint64_t word;

    return v8_field(walk, object, offset, &word) && v8_small(word, out);
}

SIGNAL_SAFE bool v8_type(const struct v8_walk *walk, uint64_t object, uint32_t *out);
SIGNAL_SAFE bool v8_is(const struct v8_walk *walk, uint64_t object, enum v8_word type);
SIGNAL_SAFE bool v8_is_between(const struct v8_walk *walk, uint64_t object, enum v8_word first,
                               enum v8_word last);
SIGNAL_SAFE bool v8_is_string(const struct v8_walk *walk, uint64_t object);

/* In UTF-16 units. */
SIGNAL_SAFE bool v8_string_length(const struct v8_walk *walk, uint64_t string, uint32_t *out);
/* As UTF-8, of a long one the beginning. Uses scan->texts->raw. */
SIGNAL_SAFE bool v8_text(const struct v8_walk *walk, uint64_t string, char *out, uint32_t room,
                         uint32_t *bytes);

#endif
