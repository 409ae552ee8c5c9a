/*
 * loop_calls.h - a program's loops, for preload.c: when a thread ends, when a sampler does, and in a forked child.
 *
 * Threads    loop_calls_thread_ends: the thread itself. The rest: whoever stops or forks.
 */
#ifndef ISOSCOPE_LOOP_CALLS_H
#define ISOSCOPE_LOOP_CALLS_H

void loop_calls_thread_ends(void);
/* Before the sampler stops: the thread for pings does. */
void loop_calls_stop(void);
void loop_calls_fork_child(void);

#endif
