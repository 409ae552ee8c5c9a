/*
 * same_program.h - whether a process is still the program that said hello, or another by exec.
 *
 *   feed's head, as it was checked -> the same bytes in the process's memory
 *     -> SAME, ANOTHER, HIDDEN
 *
 * Where the memory may not be read (the program has given rights up, or another has more), its name
 * tells, which seldom changes otherwise.
 *
 * Threads    same_program_at: any. The rest: one at a time.
 * Errors     None: what cannot be known is taken for the same.
 */
#ifndef ISOSCOPE_SAME_PROGRAM_H
#define ISOSCOPE_SAME_PROGRAM_H

#include "../../feed/layout.h"

#include <stdbool.h>
#include <stdint.h>

enum same_program { PROGRAM_SAME, PROGRAM_ANOTHER, PROGRAM_HIDDEN };

/* One look. known: what stands at known->mapped_at while it is the same. */
enum same_program same_program_at(int32_t pid, const struct feed_head *known);

/* What is remembered from look to look. Zeros at first. */
struct program_proof {
    uint64_t ticks; /* of the feed, at the last look */
    int64_t looked_us, name_us;
    char name[16]; /* the kernel's, when it could be looked at; "": it never could */
    bool gone;
};

/* True: it has become another. Looks some times in a second; ticks that came since prove it. */
bool program_is_gone(struct program_proof *proof, int32_t pid, const struct feed_head *known,
                     uint64_t ticks, int64_t now_us);

#endif
