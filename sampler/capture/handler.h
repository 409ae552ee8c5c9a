/*
 * handler.h - the tick: the timer's signal in the sampled thread, one sample into its ring.
 *
 * Signals    handler_tick and, for perf events that trap, handler_trap are the signal handlers;
 *            everything they reach is SIGNAL_SAFE, and the test `signal_safe` proves it. A tick
 *            makes one system call (the thread's CPU clock) and reads the thread's own stack, its
 *            ring and the sampler's tables.
 */
#ifndef ISOSCOPE_HANDLER_H
#define ISOSCOPE_HANDLER_H

#include "../feed/signal_safe.h"

#include <signal.h>

SIGNAL_SAFE void handler_tick(int number, siginfo_t *info, void *context);
SIGNAL_SAFE void handler_trap(int number, siginfo_t *info, void *context);

#endif
