/*
 * perf_events.h - events of the kernel's, one for each thread and processor, and a ring for each processor: clocks that copy registers
 * and stack at each tick, or what leads from and to the processor.
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

enum perf_what {
    PERF_CLOCK,   /* tells of threads, programs and mappings, too */
    PERF_MACHINE, /* the same of all that runs on a processor: perf_events_add_all */
    PERF_SWITCHES, /* a copy where a thread leaves its processor; and when it leaves and comes back */
    PERF_WAKEUPS, /* who wakes it; for root alone */
};

struct perf_wish {
    enum perf_what what;
    uint32_t period_us, stack_bytes; /* CLOCK: its period */
    bool kernel; /* the kernel's part of the stack too, for who may see it; else nothing */
    uint64_t
        tracepoint; /* WAKEUPS, SWITCHES: its number; SWITCHES, 0: none, so it is not told why */
};

struct perf_events {
    struct perf_wish wish;
    bool no_kernel; /* it is excluded: an ordinary user may not look there */
    int *fds;
    size_t fd_count, fd_room;
    struct perf_ring *rings; /* by processor */
    int *ring_fds;           /* the event that each ring is of; -1: none yet */
    uint32_t processors;
};

/* No thread yet. 0, or an errno. */
int perf_events_open(struct perf_events *events, const struct perf_wish *wish);
void perf_events_close(struct perf_events *events);
/* A thread that inherits from none that is known. 0 or an errno; ESRCH: it has ended. */
int perf_events_add(struct perf_events *events, pid_t tid);
/* MACHINE: all processors; those that are switched off have none. */
int perf_events_add_all(struct perf_events *events);
/* SWITCHES: a copy each so many times. */
void perf_events_set_period(struct perf_events *events, uint64_t period);

#endif
