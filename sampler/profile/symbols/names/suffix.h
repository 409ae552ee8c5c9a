/*
 * suffix.h - what compilers append to a function's name when they make another one of it.
 *
 *     "foo.part.0.cold" -> "foo.part.0" and cold -> "foo" and part
 *
 * Only suffixes that are known to be a compiler's count: "main.main" is a name in Go.
 */
#ifndef ISOSCOPE_SUFFIX_H
#define ISOSCOPE_SUFFIX_H

#include <stdbool.h>
#include <stddef.h>

struct suffix {
    size_t at;        /* where it begins: the bytes of the name without it */
    const char *word; /* "cold"; static */
    bool cold;        /* the part of a function that seldom runs, moved away: no function */
};

/* The last suffix of the name's first bytes; false: there is none. */
bool suffix_last(const char *name, size_t bytes, struct suffix *out);
/* How many of the name's first bytes are no suffix. */
size_t suffix_base_bytes(const char *name, size_t bytes);

#endif
