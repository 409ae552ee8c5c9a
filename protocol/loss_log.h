/*
 * loss_log.h - what the sampler lost, told as Logging events: DevTools shows them in its log.
 *
 * The first loss of a kind in a process is told at once. What follows is told after ten seconds,
 * then after twenty, and so on, each time twice as long, up to an hour: a loss that lasts an hour
 * is told nine times. When it has rested for as long, and for a minute at least, or the
 * process has ended, its sum is told. What belongs to the normal course (the ticks before the
 * unwind tables are there, a sleeper that woke up) is only counted, in _counters.
 *
 * Units      us: of the service's monotonic clock.
 * Threads    The service thread.
 */
#ifndef ISOSCOPE_LOSS_LOG_H
#define ISOSCOPE_LOSS_LOG_H

#include "../sampler/profile/snapshot.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct service;

struct loss_course {
    uint64_t lost, told;      /* by now; when it was told last */
    int64_t grew_us, told_us; /* when lost grew; when something was told */
    int64_t pause_us;         /* 0: nothing was ever told */
    bool lasts;               /* its end is still to be told */
};

struct loss_mark {
    uint64_t process_id;
    struct loss_course of[FEED_LOSS_COUNT];
};

struct loss_log {
    struct loss_mark *marks;
    size_t count;
    uint64_t sequence; /* of the next record */
};

/* Looks at all processes. Out of memory: told at a later call. */
void loss_log_look(struct service *service);
void loss_log_free(struct loss_log *log);

#endif
