/*
 * tick_mask.h - the signals of ticks in the masks that the program sets.
 *
 *   sigprocmask (mask_calls.c) -> tick_mask -> handler, for a signal that somebody sent meanwhile
 *
 * Who blocks all signals for a while means no tick. A trap that waits is of no use to anybody, and
 * would end a program that is exec'd meanwhile and does not know of it. So the kernel is not told
 * to block our signals with all others, and the program is told that they are blocked. One that
 * somebody else sends then is blocked when it comes, and waits.
 */
#ifndef ISOSCOPE_TICK_MASK_H
#define ISOSCOPE_TICK_MASK_H

#include "../../feed/signal_safe.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* So many signals mean "all", not "this one of all". */
SIGNAL_SAFE bool tick_mask_means_all(const sigset_t *set);
/* signals: a kernel's set, as all masks here. */
SIGNAL_SAFE void tick_mask_add(sigset_t *set, uint64_t signals);
void tick_mask_remove(sigset_t *set, uint64_t signals);
/* In the handler, for what is no tick. True: it waits now, until the program unblocks it. What the
 * thread did itself (a breakpoint) cannot wait. */
SIGNAL_SAFE bool tick_mask_hold(int number, const siginfo_t *info, void *context);

#endif
