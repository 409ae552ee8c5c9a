/*
 * stall_marks.h - what somebody remembers of each stall: a byte by its number (stalls.h), which begin at 1
 * and have no gaps.
 *
 * Ownership  The caller owns a struct stall_marks; zeroed is empty.
 * Threads    One at a time.
 */
#ifndef ISOSCOPE_STALL_MARKS_H
#define ISOSCOPE_STALL_MARKS_H

#include <stddef.h>
#include <stdint.h>

struct stall_marks {
    uint8_t *bytes;
    size_t count;
};

/* 0 at first; valid until the next call. NULL: out of memory. */
uint8_t *stall_marks_of(struct stall_marks *marks, uint64_t number);
void stall_marks_free(struct stall_marks *marks);

#endif
