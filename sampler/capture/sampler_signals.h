/*
 * sampler_signals.h - which signals ticks come by, and the way out when the program wants one.
 *
 * Threads    sampler_signals_take: at the start. sampler_signals_keep: whoever tends the sampler
 *            (tend.h).
 * Errors     None: without a signal there are no ticks, and that is counted (threads.h).
 */
#ifndef ISOSCOPE_SAMPLER_SIGNALS_H
#define ISOSCOPE_SAMPLER_SIGNALS_H

#include "../feed/signal_safe.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* With the handlers of ticks: of CPU-time timers, and of the user clock. */
void sampler_signals_take(void (*tick)(int, siginfo_t *, void *),
                          void (*trap)(int, siginfo_t *, void *));
/* Moves to others where the program has taken one by itself. */
SIGNAL_SAFE void sampler_signals_keep(void);
/* Ticks come by it. */
bool sampler_uses_signal(int number);
/* The program is about to take this signal: if ticks use it they move to another, before this
 * returns. True: there is no other. The program's handler is called by ours (program_action.h). */
bool sampler_yield_signal(int number);
/* The signals that ticks come by and the program does not handle, as a kernel's set. */
uint64_t sampler_tick_signals(void);

#endif
