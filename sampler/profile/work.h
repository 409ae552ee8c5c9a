/*
 * work.h - long work in turns: who does it is told how much it may do, and goes on at the next
 * call.
 *
 *     if (*work <= 0)
 *         return 1;
 *     work_off(work, look_at_one_more());
 *
 * Counted, not timed: a unit is a sample or a node looked at, some nanoseconds. What has begun is
 * finished, so a turn does a little more than it was told: WORK_OVER at most.
 */
#ifndef ISOSCOPE_WORK_H
#define ISOSCOPE_WORK_H

#include <stdint.h>

/* A millisecond or two. */
enum { WORK_TURN = 1 << 17, WORK_OVER = 1 << 17 };

static inline void work_off(int64_t *work, uint32_t done)
{
    *work -= done;
}

/* No more in this turn. Who has all the work there is (INT64_MAX) goes on. */
static inline void work_end(int64_t *work)
{
    if (*work > 0 && *work <= WORK_TURN)
        *work = 0;
}

#endif
