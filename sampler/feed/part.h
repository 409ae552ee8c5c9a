/*
 * part.h - a part of the feed that the program maps as far as it is used.
 *
 *   feed_writer.c (rings) -> window 0 from the start -> further windows when asked for
 *
 * A window goes on where the one before it ends, and is as large as all before it. So a thousand
 * threads need ten of them, and a program with few threads has addresses for few.
 *
 * Units      offset: bytes from the part's start.
 * Ownership  Window 0 is the caller's, if he has mapped it; part_end takes the others away.
 * Threads    part_reach and what reads: any. No window moves or goes before part_end.
 * Signals    What is marked is SIGNAL_SAFE.
 * Errors     False, or NULL: there is no address space for it.
 */
#ifndef ISOSCOPE_PART_H
#define ISOSCOPE_PART_H

#include "signal_safe.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    PART_WINDOWS = 12,
    /* Windows begin and end with the largest page that kernels have. */
    PART_STEP_BYTES = 64 * 1024,
};

struct part {
    uint64_t bytes;       /* of the whole part; below it is every offset that is asked for */
    uint64_t first_bytes; /* of window 0; doubled again and again it reaches bytes */
    uint8_t *before;      /* the step that lies before the part, mapped; NULL: window 0 is */
    _Atomic(uint8_t *) windows[PART_WINDOWS]; /* NULL: not mapped yet */
};

/* place: of first_bytes, mapped. Both sizes, and where the part lies in the memfd: steps. */
SIGNAL_SAFE void part_begin(struct part *part, uint8_t *place);
/* Instead: nothing of it is mapped yet, but the step before it, which stays mapped. */
SIGNAL_SAFE void part_begin_behind(struct part *part, uint8_t *before);
SIGNAL_SAFE void part_end(struct part *part);
/* In place of all of them: all of the part is mapped, at whole, by somebody else. */
void part_over(struct part *part, uint8_t *whole);

/* Maps the window that the byte lies in, unless it is. */
SIGNAL_SAFE bool part_reach(struct part *part, uint64_t offset);
/* Bytes from there to the end of its window: they stand in one piece. */
SIGNAL_SAFE uint64_t part_left(const struct part *part, uint64_t offset);
/* Where the byte is; NULL where part_reach has not been. */
SIGNAL_SAFE uint8_t *part_at(const struct part *part, uint64_t offset);

#endif
