/*
 * frame_sums.h - what counts of frames, by the names of process and frame: how many, how long, what was dropped.
 *
 *   timeline (what came since the last look) -> here -> metrics
 *
 * Each look reads on where the one before has ended. What the store of events let go between two looks is in no
 * sum. Names that come when there are FRAME_GROUPS_MAX of them are counted as "other".
 *
 * Units      now_us: the timeline's clock.
 * Ownership  The caller owns a struct frame_sums; zeroed is empty.
 * Errors     -ISOSCOPE_NO_MEMORY: the sums hold what was read by then.
 */
#ifndef ISOSCOPE_FRAME_SUMS_H
#define ISOSCOPE_FRAME_SUMS_H

#include "metrics_text.h"
#include "process_sums.h"
#include "../timeline/frame_rate.h"

enum { FRAME_GROUPS_MAX = 100, FRAME_REFRESH_RATE = 60 };

struct frame_group {
    struct json_text labels; /* process and frame */
    struct loop_times times;
    uint64_t dropped, levels[FRAME_LEVELS];
    uint64_t per_second; /* ended in the second before the look */
};

struct frame_sums {
    struct frame_group groups[FRAME_GROUPS_MAX + 1]; /* the last: all others */
    uint32_t group_count;
    bool others; /* there are some */
    struct timeline_cursor cursor;
};

/* processes: looked at just before. */
int frame_sums_look(struct frame_sums *sums, struct profile *profile,
                    const struct process_sums *processes, int64_t now_us);
void frame_sums_free(struct frame_sums *sums);

#endif
