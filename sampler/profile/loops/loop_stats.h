/*
 * loop_stats.h - what is counted of a loop's dispatches: how long they took, how late they began, which were too
 * long.
 *
 *   loop_watch (ranges) -> loop_stats -> loop_info (stalls.h)
 *
 * Ownership  The user's struct; all zeros is a loop without a dispatch.
 * Threads    One at a time.
 * Errors     None.
 */
#ifndef ISOSCOPE_LOOP_STATS_H
#define ISOSCOPE_LOOP_STATS_H

#include "loop_watch.h"

struct loop_stats {
    uint64_t dispatches;
    struct loop_times dispatch, delay;
    uint64_t blocking_ns;
    uint64_t levels[STALL_LEVEL_COUNT];
    uint64_t causes[STALL_CAUSE_COUNT];
    uint64_t dismissed;
    /* Dispatches of unknown time that are not in dispatch yet. */
    uint64_t shorts;
    int64_t shorts_ns, shorts_since_ns;
};

void loop_times_add(struct loop_times *times, struct stall_range took_ns);
/* So many took so long on average. */
void loop_times_add_mean(struct loop_times *times, uint64_t count, uint64_t sum_ns);

void loop_stats_shorts(struct loop_stats *stats, const struct loop_shorts *shorts, int64_t now_ns);
/* A stretch is over. level: COUNT: it reached none. */
void loop_stats_ended(struct loop_stats *stats, struct stall_range took_ns, enum stall_level level,
                      int64_t jank_ns);
/* What is known now, shorts too. */
void loop_stats_tell(const struct loop_stats *stats, struct loop_info *out);

#endif
