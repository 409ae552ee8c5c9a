/*
 * loop_ping.h - pings of loops that take jobs from other threads.
 *
 *   service (pings + 1, FUTEX_WAKE) -> the thread iso-ping -> the program's post -> the loop's thread -> seen
 *
 * The thread comes with the first loop that wants pings, and sleeps on a word of the feed. What the program's post
 * gets to run later is a number, not memory: it may come when the loop has long ended.
 *
 * Threads    Any that the program calls on.
 * Errors     0, or a negative isoscope_error.
 */
#ifndef ISOSCOPE_LOOP_PING_H
#define ISOSCOPE_LOOP_PING_H

#include "loop_table.h"

/* post NULL: no more. When it returns the post before it does not run, unless the caller is in it. */
int loop_ping_set(struct isoscope_loop *loop, loop_post post, void *context);
/* The thread ends. It is waited for, but not for ever: a post of the program's may not return. */
void loop_ping_stop(void);
/* In a forked child: there is no such thread. */
void loop_ping_forget_parent(void);

#endif
