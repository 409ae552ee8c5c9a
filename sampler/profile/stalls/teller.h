/*
 * teller.h - the thread that says of each stall what made it: while it lasts, again while it goes on, and
 * when it has ended.
 *
 *   stall_log (what is due) -> teller (gather, culprit, compose) -> stall_log (published) -> changed
 *
 * It sleeps until the log has something. What it says is complete with names, unless they take long to
 * read: then it is said with those that are there, and completed later, without being an update.
 *
 * Units      *_ns: CLOCK_MONOTONIC nanoseconds.
 * Ownership  It borrows the profile and the log.
 * Threads    One round at a time: its own thread's, or, without one, the caller's.
 * Errors     0 or a negative isoscope_error.
 */
#ifndef ISOSCOPE_TELLER_H
#define ISOSCOPE_TELLER_H

#include "stall_log.h"

struct teller;

struct teller_options {
    struct profile *profile;
    struct stall_log *log;
    /* There is something new to read; NULL: nobody cares. */
    void (*changed)(void *context);
    void *context;
};

int teller_new(struct teller **out, const struct teller_options *options);
int teller_start(struct teller *teller);
void teller_stop(struct teller *teller);
void teller_free(struct teller *teller); /* stops it, too; NULL is fine */

/* Does all that is due. Returns when there is more to do; INT64_MAX: when the log has news. */
int64_t teller_round(struct teller *teller, int64_t now_ns);

#endif
