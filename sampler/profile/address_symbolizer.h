/*
 * address_symbolizer.h - names for single addresses, without a profile: what another machine left
 * unnamed.
 *
 *   build id, path, offset -> symbolizer -> the frames that a profile with names would have shown
 *
 * Ownership  Texts live until address_symbolizer_free.
 * Threads    One at a time.
 * Errors     0 or a negative isoscope_error.
 */
#ifndef ISOSCOPE_ADDRESS_SYMBOLIZER_H
#define ISOSCOPE_ADDRESS_SYMBOLIZER_H

#include "snapshot.h"

struct address_symbolizer;

enum { SYMBOLIZED_FRAMES_MAX = 64 };

struct symbolized_frame {
    struct snapshot_function function; /* its library and counts are 0 */
    uint32_t line;                     /* 0: not known */
    const char *file; /* of the line, where it is not the function's file; else NULL */
    bool inlined;     /* into the frame behind it */
};

struct symbolized {
    struct symbolized_frame frames[SYMBOLIZED_FRAMES_MAX]; /* innermost first */
    uint32_t count;                                        /* 0: nothing names it */
    struct snapshot_library library;                       /* its reasons tell why */
};

/* names_only: by symbols, without lines and inlined functions. Debug data, which is mostly to be unpacked first, is not read. */
int address_symbolizer_new(struct address_symbolizer **out, bool names_only);
void address_symbolizer_free(struct address_symbolizer *symbolizer); /* NULL is fine */

/* build_id: hex; "" when there is none, and then whatever is at the path is believed.
 * -ISOSCOPE_INVALID: it is no hex, or too long. */
int symbolize_address(struct address_symbolizer *symbolizer, const char *path, const char *build_id,
                      uint64_t offset, struct symbolized *out);

#endif
