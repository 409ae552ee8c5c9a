/*
 * cpu_timer.h - a thread's CPU-time timer: a signal at each of the kernel's own ticks that it
 * meets.
 *
 * The kernel looks at such timers in its tick (250 times a second on Debian), and sends the signal
 * when the thread returns to user mode: no system call is cut short, and a tick that fell into one
 * is seen right behind it. This is the clock of kernel mode, and the only one where perf is
 * refused.
 *
 * One for each thread. A process has one timer too, but its signal goes to whichever thread takes
 * it when the one that ran blocks it, out of that one's sleep; and the ticks of several processors
 * become one.
 *
 * Threads    cpu_timer_open: any thread, for any of its process. SIGNAL_SAFE.
 * Errors     cpu_timer_open: the kernel's number of it, or -errno.
 * Source     timer_create(2); thread clock ids: the kernel's posix-timers.h.
 */
#ifndef ISOSCOPE_CPU_TIMER_H
#define ISOSCOPE_CPU_TIMER_H

#include "../../feed/signal_safe.h"

#include <stdbool.h>
#include <stdint.h>

SIGNAL_SAFE long cpu_timer_open(int tid, int signal_number);
/* False: it rests. Then it ticks a few times in a second of CPU time, for the thread to see whether
 * ticks are wanted again. */
SIGNAL_SAFE void cpu_timer_run(int id, bool runs);
SIGNAL_SAFE void cpu_timer_close(int id);
SIGNAL_SAFE bool cpu_timer_is_tick(const void *siginfo);
/* CPU time between two ticks. */
SIGNAL_SAFE uint32_t cpu_timer_period_us(void);

/* CPU time of any thread of this process; 0 when it has gone. */
SIGNAL_SAFE uint64_t cpu_timer_thread_ns(int tid);

#endif
