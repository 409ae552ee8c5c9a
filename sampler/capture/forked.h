/*
 * forked.h - a forked child: its clocks tick at once, and all else waits for its first tick.
 *
 *   sampler_fork_child -> forked_arm -> the first tick, or what cannot wait -> feed, hello
 *
 * Most forked children end, or become another program, before they tick.
 *
 * Signals    What is marked is SIGNAL_SAFE.
 * Errors     None: without a feed the child is not sampled.
 */
#ifndef ISOSCOPE_FORKED_H
#define ISOSCOPE_FORKED_H

#include "../feed/signal_safe.h"

#include <stdbool.h>
#include <stdint.h>

/* In the child, whose calling thread had old_slot in its parent. whole: nobody was changing the
 * lists when the memory was copied. waits: what forked_may_wait said. Returns the thread's slot; 0:
 * it is not sampled. */
uint32_t forked_arm(uint32_t old_slot, bool whole, bool waits);
/* Before the fork: a child may wait for its first tick. Not where nobody wants ticks, or rounds of
 * wall mode look at threads that sleep; and what is wanted is known when the service has said so.
 */
bool forked_may_wait(void);
/* In a child that has not begun. */
SIGNAL_SAFE bool forked_has_not_begun(void);
/* What needs a sampler that runs has the child begin now. Elsewhere it does nothing. */
void forked_begin(void);
/* The same, and whatever else is reached by a path or takes a descriptor, which a tick could not do
 * after the call that is about to come (another root, other rights, lower limits, a filter). */
void forked_settle(void);
/* It would do something. */
bool forked_is_unsettled(void);
/* As forked_begin, by a tick. */
SIGNAL_SAFE void forked_begin_at_tick(void);

#endif
