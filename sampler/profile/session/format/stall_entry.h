/*
 * stall_entry.h - a stall as an object of a block STLS, both ways.
 *
 *   stalls.h -> stall_entry_write -> STLS -> stall_entry_read -> stalls/stall_log.h
 *
 * Its texts stand in one list, once each, and are numbers elsewhere: 20 stacks have few functions.
 *
 * Ownership  What is read points into the object and into itself: do not move it. stall_reading_free.
 * Errors     As entry.h.
 */
#ifndef ISOSCOPE_STALL_ENTRY_H
#define ISOSCOPE_STALL_ENTRY_H

#include "../../stalls.h"
#include "entry.h"

enum { STALL_ENTRY_DEPTH_MAX = 128 };

/* stacks: with them. */
json_t *stall_entry_write(const struct stall *stall, bool stacks);

struct stall_reading {
    struct stall stall; /* change is 0; process_id and loop are the file's */
    const char *prefix[STALL_PREFIX_MAX];
    struct stall_run runs[STALL_RUNS_MAX];
    struct stall_stack stacks[STALL_STACKS_MAX];
    const char *functions[STALL_STACKS_MAX][STALL_ENTRY_DEPTH_MAX];
};

void stall_entry_read(struct entry *entry, struct stall_reading *out);

#endif
