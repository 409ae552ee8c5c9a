/*
 * push.h - sends a profile of each window to an engine: the service's side of it.
 *
 *   every 10 s: client_pull (protocol/service.h) -> gzip -> push_queue -> push_sender (its own thread)
 *
 * Windows follow each other without a gap. Kinds without samples are not sent.
 *
 * Ownership  Borrows loop, web and service: push_stop before them, push_free after the loop.
 * Threads    The service thread.
 * Errors     Said on stderr; 0 or a negative isoscope_error.
 */
#ifndef ISOSCOPE_PUSH_H
#define ISOSCOPE_PUSH_H

#include "push_options.h"

struct loop;
struct push;
struct service;
struct web;

struct push_plan {
    const struct push_options *options;
    const char *program;            /* its name is the service's, where no label says another */
    bool allocations, locks, waits; /* are sampled; waits: wall mode */
    bool stats;                     /* what became of the profiles is said in any case */
    struct loop *loop;
    struct web *web;
    struct service *service;
};

/* Where nothing is to be pushed *out is NULL. */
int push_start(struct push **out, const struct push_plan *plan);
/* The program's: labels tell of it. */
void push_tell_pid(struct push *push, int pid);
/* The last window ends now; it is sent, and what waits, for some seconds at most. NULL is fine, as
 * below. */
void push_finish(struct push *push);
bool push_runs(const struct push *push);
/* At once: what is not sent stays in the queue. */
void push_stop(struct push *push);
void push_free(struct push *push);

#endif
