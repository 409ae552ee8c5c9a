/*
 * tick_signal.h - which signal the timers send.
 *
 * One whose default action is to be ignored comes first: a tick that was sent just before the
 * program calls exec is delivered to the new program, which has no handler and must not die of it.
 * Real-time signals are out: when their queue is full the kernel sends SIGIO instead, which kills.
 *
 * Errors     tick_signal_choose: the signal, or 0 when the program uses all of them.
 */
#ifndef ISOSCOPE_TICK_SIGNAL_H
#define ISOSCOPE_TICK_SIGNAL_H

#include <signal.h>
#include <stdbool.h>

/* Takes the first signal the program leaves alone, and installs handler for it. */
int tick_signal_choose(void (*handler)(int, siginfo_t *, void *));
/* False when somebody has changed the signal's action since. */
bool tick_signal_ours(int number, void (*handler)(int, siginfo_t *, void *));
/* Back to the default, if it is still ours. */
void tick_signal_release(int number, void (*handler)(int, siginfo_t *, void *));

#endif
