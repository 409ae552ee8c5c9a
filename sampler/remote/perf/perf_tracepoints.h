/*
 * perf_tracepoints.h - numbers of the scheduler's tracepoints, and where their records have what is wanted.
 *
 * They stand in tracefs, which need not be mounted anywhere: it is opened for that moment, and seen by nobody.
 *
 * Threads    Any.
 */
#ifndef ISOSCOPE_PERF_TRACEPOINTS_H
#define ISOSCOPE_PERF_TRACEPOINTS_H

#include <stdbool.h>
#include <stdint.h>

struct perf_tracepoints {
    uint64_t switches, wakeups; /* 0: not for us */
    uint32_t state_at,
        state_size;    /* in a record of switches: why the thread left, as the kernel has it */
    uint32_t woken_at; /* in one of wakeups: its tid */
};

/* All zeros where they are not to be had: no root, or no tracefs. */
void perf_tracepoints_find(struct perf_tracepoints *out);

#endif
