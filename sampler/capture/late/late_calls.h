/*
 * late_calls.h - which functions of ours stand before which of the program's.
 *
 *   libisoscope.so, and those loaded beside it -> their exported functions -> here <- late.c: where the program calls one of them
 *
 * Those of the libraries beside stand before libisoscope.so's of the same name (syscall), as they do where they are preloaded.
 *
 * Ownership  The table is never given back: what is in the place of a function asks it for that one, at any time.
 * Threads    late_calls_begin, and what fills the table: one at a time. late_next: any.
 */
#ifndef ISOSCOPE_LATE_CALLS_H
#define ISOSCOPE_LATE_CALLS_H

#include "late_image.h"

#include <stdbool.h>
#include <stdint.h>

struct late_call {
    const char *name;
    const void *ours;
    const void *_Atomic original; /* NULL: nobody defines it yet, or nobody who surely stays */
    const void *inner;    /* libisoscope.so's, behind another one of ours; NULL: there is none */
    uint32_t definitions; /* of objects, ours not counted */
    bool several;         /* its library has one of an older version, too */
    bool in_program;      /* the program itself has it: it is left alone */
};

enum { LATE_CALLS_MAX = 256 };

struct late_calls {
    uint16_t heads[LATE_CALLS_MAX]; /* of names */
    struct late_call list[LATE_CALLS_MAX];
    uint32_t count;
};

/* The table; NULL: there is no memory for it. */
struct late_calls *late_calls_begin(void);
/* Takes in what a library of ours stands before; the innermost library first. */
void late_calls_add_library(const struct late_image *library);
void late_calls_add(const char *name, const void *ours);
/* NULL: there is none of that name. */
struct late_call *late_calls_find(const char *name);

/* What libisoscope.so's function of that name is to call: what the program called before, or else what comes next by the loader's
 * order. */
void *late_next(const char *name);

#endif
