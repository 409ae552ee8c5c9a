/*
 * program_action.h - what the program asked for a signal whose handler is ours.
 *
 *   sigaction (signal_calls.c) -> program_action -> handler, for what is no tick
 *
 * SIGTRAP says whose it is: the kernel gives our traps a code and a mark of their own. So a program
 * that handles it gets its own traps, and ticks go on. The same holds for the last signal that
 * ticks can come by, where the program handles all others, and for faults (fault_handler.h).
 *
 * Threads    Any, at any time; the newest set holds.
 * Signals    All of it is lock-free, what is marked is SIGNAL_SAFE; what program_action_run calls is the
 *            program's, with the mask that the program asked for.
 */
#ifndef ISOSCOPE_PROGRAM_ACTION_H
#define ISOSCOPE_PROGRAM_ACTION_H

#include "../../feed/signal_safe.h"

#include <signal.h>
#include <stdbool.h>

/* The default, and SIG_IGN, are not kept: then there is none. */
SIGNAL_SAFE void program_action_set(int number, const struct sigaction *action);
SIGNAL_SAFE void program_action_forget(int number);
/* False: there is none; *out stays as it was. */
bool program_action_get(int number, struct sigaction *out);

/* In our handler, for a signal that is no tick. False: there is none. It may not return: handlers
 * jump. */
SIGNAL_SAFE bool program_action_run(int number, siginfo_t *info, void *context);

#endif
