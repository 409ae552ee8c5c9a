/*
 * loop_sums.h - what counts of loops, by the names of process, loop and thread: the workers of a server are one.
 * What a loop has counted stays in the sum when the profile knows it no longer.
 *
 * Names that come when there are LOOP_GROUPS_MAX of them are counted as "other".
 *
 * Ownership  The caller owns a struct loop_sums; zeroed is empty.
 * Errors     -ISOSCOPE_NO_MEMORY: the sums are what they were.
 */
#ifndef ISOSCOPE_LOOP_SUMS_H
#define ISOSCOPE_LOOP_SUMS_H

#include "metrics_text.h"
#include "process_sums.h"

enum { LOOP_GROUPS_MAX = 200 };

struct loop_counts {
    struct loop_times dispatch, delay;
    uint64_t blocking_ns, dismissed;
    uint64_t levels[STALL_LEVEL_COUNT], causes[STALL_CAUSE_COUNT];
};

struct loop_group {
    struct json_text labels; /* process, loop and thread */
    struct loop_counts sum, gone;
};

/* A loop as it was when it was looked at last. */
struct seen_loop {
    uint32_t number, group;
    struct loop_counts counts;
};

struct loop_sums {
    struct loop_group groups[LOOP_GROUPS_MAX + 1]; /* the last: all others */
    uint32_t group_count;
    bool others;            /* there are some */
    struct seen_loop *seen; /* by number */
    size_t seen_count;
};

/* processes: looked at just before. */
int loop_sums_look(struct loop_sums *sums, struct profile *profile,
                   const struct process_sums *processes);
void loop_sums_free(struct loop_sums *sums);

#endif
