/*
 * sampler_signals.h - which signals ticks come by, and the way out when the program wants one.
 *
 * Threads    sampler_signals_take: before the sampler's thread runs; the others: that
 *            thread.
 * Errors     None: without a signal there are no ticks, and that is counted (threads.h).
 */
#ifndef ISOSCOPE_SAMPLER_SIGNALS_H
#define ISOSCOPE_SAMPLER_SIGNALS_H

void sampler_signals_take(void);
/* Moves to others where the program has taken one by itself. */
void sampler_signals_keep(void);
/* Does what sampler_yield_signal waits for. */
void sampler_signals_yield(void);

#endif
