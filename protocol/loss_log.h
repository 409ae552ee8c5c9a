/*
 * loss_log.h - what the sampler lost, told as Logging events: DevTools shows them in its log.
 *
 * The first loss of a kind in a process is told at once, and then no more often than each ten
 * seconds. What belongs to the normal course (the ticks before the unwind tables are there, a
 * sleeper that woke up) is only counted, in _counters.
 *
 * Units      ms: of the service's epoch clock.
 * Threads    The service thread.
 */
#ifndef ISOSCOPE_LOSS_LOG_H
#define ISOSCOPE_LOSS_LOG_H

#include "../sampler/profile/snapshot.h"

#include <stddef.h>
#include <stdint.h>

struct service;

struct loss_mark {
    uint64_t process_id;
    uint64_t told[FEED_LOSS_COUNT];
    int64_t told_ms[FEED_LOSS_COUNT]; /* 0: never */
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
