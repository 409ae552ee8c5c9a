/*
 * fault_event.h - a trap at each so many page faults of a thread, and of the threads it makes.
 *
 *   fault_event_open -> (kernel) -> SIGTRAP in the thread whose page fault was the last of so many
 *
 * Beside the user clock, and like it: inherited by threads, left out of kernel mode, gone at exec. So
 * pages that the kernel touches for the program (read() into new memory) are not counted.
 *
 * Errors     A descriptor, or -errno.
 * Source     perf_event_open(2): PERF_COUNT_SW_PAGE_FAULTS, sigtrap (Linux 5.13).
 */
#ifndef ISOSCOPE_FAULT_EVENT_H
#define ISOSCOPE_FAULT_EVENT_H

#include "perf_trap.h"

/* Of the calling thread, and of those that it makes from now on. It traps at once. */
SIGNAL_SAFE long fault_event_open(uint32_t faults);
/* How many page faults a trap stands for; 0: it is another one's. */
SIGNAL_SAFE_INLINE uint32_t fault_event_of_trap(const siginfo_t *info)
{
    return perf_trap_of(info, PERF_TRAP_FAULTS);
}

#endif
