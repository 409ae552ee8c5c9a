/*
 * sampler_signals.h - which signals ticks come by, and the way out when the program wants one.
 *
 * Threads    sampler_signals_take, _take_over: before the sampler's thread runs; the others: that
 *            thread.
 * Errors     None: without a signal there are no ticks, and that is counted (threads.h).
 */
#ifndef ISOSCOPE_SAMPLER_SIGNALS_H
#define ISOSCOPE_SAMPLER_SIGNALS_H

void sampler_signals_take(void);
/* In a forked child, with the parent's signals: what the child blocks it does not hear. */
void sampler_signals_take_over(void);
/* Moves to others where the program has taken one by itself, or threads block one. */
void sampler_signals_keep(void);
/* Does what sampler_yield_signal waits for. */
void sampler_signals_yield(void);

#endif
