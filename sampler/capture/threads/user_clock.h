/*
 * user_clock.h - ticks in user mode: one perf event for a thread, and for the threads it makes.
 *
 *   user_clock_open -> (kernel) -> SIGTRAP in each thread that has used a period -> handler
 *
 * A task-clock event that traps and is inherited by threads: the kernel gives it to each new one,
 * and swaps it between them at a switch for next to nothing, which it does not for events that were
 * opened one by one. Kernel mode is left out, also where it would be granted: so no tick can fall
 * into an exec, where its trap would end the new program, and root sees what everybody sees.
 *
 * Forked children do not inherit it; each opens its own (sampler.c). A child of vfork, and so of
 * posix_spawn, system and popen, has no use for ticks: it sets our handler to the default with all
 * signals blocked, and would die of one that waits when it opens them. With an inherited event 3 of
 * 5 such children died at 10 kHz; and the parent lost its ticks, for the kernel had swapped its
 * event away to a child that took it along into exec.
 *
 * Units      period_us: user CPU time between two ticks; the kernel gets 1 % less, so that work
 *            that repeats in step with the period is met at all its places.
 * Threads    user_clock_of_trap: any. The rest: whoever holds the descriptor.
 * Errors     user_clock_open: a descriptor, or -errno.
 * Source     perf_event_open(2): sigtrap (Linux 5.13), inherit_thread, remove_on_exec.
 */
#ifndef ISOSCOPE_USER_CLOCK_H
#define ISOSCOPE_USER_CLOCK_H

#include "../../feed/signal_safe.h"

#include <stdbool.h>
#include <stdint.h>

/* Of the thread, and of those that it makes from now on. runs: it ticks at once. */
SIGNAL_SAFE long user_clock_open(int tid, uint32_t period_us, bool runs);
/* Of the calling thread alone, and it ticks; kept by a page of memory, so that no descriptor is
 * left. NULL: there is none. */
SIGNAL_SAFE void *user_clock_of_page(uint32_t period_us);
SIGNAL_SAFE void user_clock_end_page(void *page); /* NULL is fine */
/* Of the thread that has it, and of threads that are made from now on. */
void user_clock_set_period(int fd, uint32_t period_us);
/* On and off for all threads that have it. */
SIGNAL_SAFE void user_clock_run(int fd, bool runs);
/* The period of the event whose trap this is; 0: it is no tick. */
SIGNAL_SAFE uint32_t user_clock_of_trap(const void *siginfo);

#endif
