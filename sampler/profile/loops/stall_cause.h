/*
 * stall_cause.h - why a dispatch took so long, out of what was seen of its thread.
 *
 *   late_thread (looks) -> stall_looks -> stall_cause_of
 *
 *   stopped  most of it the thread was stopped
 *   host     the watcher's looks came too late by half of it: the machine had no time for either; never where it
 *            slept for three quarters of it, and was seen to
 *   starved  the thread waited for a processor longer than it ran, and longer than it slept
 *   busy     it ran longer than it slept; never when it waited for a processor as long
 *   sleeping longer than both: what it slept in longest: lock, io, page-fault, sleep, child
 *   page-fault also when it slept where no look saw it, and pages came from a disk meanwhile
 *
 * Pure: no clock, no memory of its own.
 */
#ifndef ISOSCOPE_STALL_CAUSE_H
#define ISOSCOPE_STALL_CAUSE_H

#include "../stalls.h"
#include "system_calls.h"

struct stall_looks {
    /* By the kernel's clocks. All zero: it keeps none, or the thread was not looked at. */
    uint64_t running_ns, runnable_ns, sleeping_ns;
    /* Time that looks met it asleep, by what it waited for, and stopped. They weigh sleeping_ns. */
    uint64_t waits_ns[CALL_WAITS_COUNT];
    uint64_t stopped_ns;
    uint64_t faults; /* major ones */
};

enum stall_cause stall_cause_of(const struct stall_looks *looks, int64_t duration_ns,
                                uint64_t host_late_ns);

#endif
