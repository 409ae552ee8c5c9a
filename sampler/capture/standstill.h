/*
 * standstill.h - system calls of the program that concern the sampler's thread too.
 *
 * libc does not know that thread, so what libc does to "all threads" misses it, and what the kernel
 * allows to a process of one thread only is refused. Three answers:
 *
 *   follow    the program gave rights up: the thread makes the same system call
 *   begin/end the program needs to be alone, or what it takes on cannot be made again: the thread
 *             ends, and another is cloned, with everything the caller then has
 *   for_good  the program locks itself in (seccomp): neither the thread nor a tick may make a
 *             system call that a filter could punish, so sampling ends before the filter comes
 *
 * Threads    The program's, any; standstill_serve: the sampler's. All signals are blocked in the
 *            calling thread meanwhile.
 * Errors     None to the caller. What ends sampling is counted in the feed, by cause.
 */
#ifndef ISOSCOPE_STANDSTILL_H
#define ISOSCOPE_STANDSTILL_H

#include <stdbool.h>
#include <stdint.h>

/* The caller's call that succeeded; number and arguments as the kernel wants them. Memory that they
 * point to must last until this returns. */
void standstill_follow(long number, const long arguments[6]);

struct standstill {
    bool holds; /* the thread is away */
    uint64_t mask;
};

void standstill_begin(struct standstill *out);
void standstill_end(struct standstill *standstill);

void standstill_for_good(void);

/* What the sampler's thread goes on to do after a request, or without one. */
enum standstill_answer { STANDSTILL_GO_ON, STANDSTILL_AWAY, STANDSTILL_OVER };
enum standstill_answer standstill_serve(void);
/* In a forked child: whoever asked in the parent is not here. */
void standstill_forget(void);

#endif
