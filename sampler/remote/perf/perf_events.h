/*
 * perf_events.h - clocks of the kernel's that copy registers and stack at each tick: one for each thread and processor, and a ring for
 * each processor.
 *
 * An event of one thread on any processor cannot both be inherited and be mapped; one of a thread on one processor can. So threads
 * and children that come later have clocks by themselves, and are told of in the same rings.
 *
 * Ownership  perf_events_close.
 * Threads    One at a time.
 * Errors     An errno: EACCES or EPERM: the kernel refuses; EMFILE: too many descriptors.
 */
#ifndef ISOSCOPE_PERF_EVENTS_H
#define ISOSCOPE_PERF_EVENTS_H

#include "perf_ring.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { PERF_STACK_FIRST = 8192, PERF_STACK_MOST = 57344 };

struct perf_events {
    uint32_t period_us, stack_bytes;
    bool no_kernel; /* it is excluded: an ordinary user may not look there */
    int *fds;
    size_t fd_count, fd_room;
    struct perf_ring *rings; /* by processor */
    int *ring_fds;           /* the event that each ring is of; -1: none yet */
    uint32_t processors;
};

/* No thread yet. 0, or an errno. */
int perf_events_open(struct perf_events *events, uint32_t period_us, uint32_t stack_bytes);
void perf_events_close(struct perf_events *events);
/* A thread that inherits from none that is known. 0 or an errno; ESRCH: it has ended. */
int perf_events_add(struct perf_events *events, pid_t tid);

#endif
