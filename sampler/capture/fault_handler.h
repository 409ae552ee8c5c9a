/*
 * fault_handler.h - SIGSEGV and SIGBUS, in a process with a runtime: a guarded read may fault.
 *
 *   capture.c (a scan is to begin) -> fault_handler_take -> read_guard.h may be used
 *   a fault -> our handler: the guarded read's -> it returns false
 *                           the program's      -> its own action, as if there were no other
 *
 * A page was probed before it is read, in this scan or an earlier one, so a fault is a page that the
 * program took away since. What the program sets and asks is its own action
 * (calls/signal_calls.c); the kernel has our handler with the program's flags and mask. The default
 * stays the default: the signal's action is set back, and it comes again.
 *
 * A process without a runtime never has these handlers.
 *
 * Threads    Any.
 * Signals    All of it is SIGNAL_SAFE.
 * Errors     False: the program ignores the signal, or took it past libc. Then reads go through the
 *            kernel.
 */
#ifndef ISOSCOPE_FAULT_HANDLER_H
#define ISOSCOPE_FAULT_HANDLER_H

#include "../feed/signal_safe.h"

#include <signal.h>
#include <stdbool.h>

SIGNAL_SAFE_INLINE bool fault_handler_is_for(int number)
{
    return number == SIGSEGV || number == SIGBUS;
}

/* Our handlers are in force; to be asked before each scan. */
SIGNAL_SAFE bool fault_handler_take(void);
/* The program has put an action of its own in our handler's place. */
SIGNAL_SAFE void fault_handler_left(void);
/* A signal that somebody sent while a scan ran goes on to the program; after each scan. */
SIGNAL_SAFE void fault_handler_send_held(void);
/* In a forked child. */
void fault_handler_forget_parent(void);

/* Ours, as the kernel calls it. */
SIGNAL_SAFE void handler_fault(int number, siginfo_t *info, void *context);

#endif
