/*
 * cooperate.h - the program's own calls (isoscope.h), for preload.c: when a thread or a sampler
 * begins.
 *
 * Threads    cooperate_enter: the thread itself. The rest: whoever starts, stops or forks.
 */
#ifndef ISOSCOPE_COOPERATE_H
#define ISOSCOPE_COOPERATE_H

#include <stdint.h>

void cooperate_started(void);
void cooperate_stopped(void);
/* The calling thread has the slot from now on; 0: none. */
void cooperate_enter(uint32_t slot);
uint32_t cooperate_slot(void);
/* The calling thread is known from now on, if it can be. */
void cooperate_know_thread(void);
/* Around fork: the child finds the list of code whole. */
void cooperate_fork_prepare(void);
void cooperate_fork_done(void);

#endif
