/*
 * table_build.h - a module's call frame information as a table of rows.
 *
 *   cfi.h (rules) -> table_build -> unwind_table.h, to be searched in the handler
 *
 * Ownership  The table is the caller's, to be freed with free.
 * Errors     NULL: no memory, or no unwind data that makes sense.
 */
#ifndef ISOSCOPE_TABLE_BUILD_H
#define ISOSCOPE_TABLE_BUILD_H

#include "../../capture/unwind/unwind_table.h"

enum { GO_MARKS_MAX = 32 };

/* Of a Go program: what go_frames.h reads. */
struct go_frames {
    uint8_t *bytes; /* in the form of .eh_frame */
    uint64_t size;
    struct go_mark {
        uint64_t start; /* of a function that is this, instead of what its rules say */
        enum row_end end;
    } marks[GO_MARKS_MAX];
    uint32_t mark_count;
};

/* header and eh_frame lie in copies; eh_frame may have other bytes behind its end. header may be
 * without a table (fde_count 0): then eh_frame is walked. go: of a Go program, or NULL. */
struct unwind_table *table_build(const struct cfi_header *header, const struct cfi_bytes *eh_frame,
                                 const struct go_frames *go);

#endif
