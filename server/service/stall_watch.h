/*
 * stall_watch.h - what a run's options want done about stalls: a command for each, a failed run at the end.
 *
 *   profile -> changed -> stall_watch_look -> stall_command.h
 *                                          -> those that count against --fail-on-stall -> stall_watch_say
 *
 * Not counted are stalls that were the machine's (cause host) or a stop's: the program could do nothing about them.
 *
 * Ownership  Borrows all that it is made with. stall_watch_free after loop_free, before the profile ends.
 * Threads    The service thread.
 * Errors     Said on stderr; 0 or a negative isoscope_error.
 */
#ifndef ISOSCOPE_STALL_WATCH_H
#define ISOSCOPE_STALL_WATCH_H

#include "stall_options.h"

struct loop;
struct profile;
struct stall_watch;

/* out stays NULL where the options want nothing; every call below takes NULL. uri: of the service. What a failure leaves
 * in out is to be freed. */
int stall_watch_new(struct stall_watch **out, const struct stall_options *options,
                    struct profile *profile, struct loop *loop, const char *uri);
void stall_watch_free(struct stall_watch *watch);

/* Something in the profile has changed. */
void stall_watch_look(struct stall_watch *watch);

/* The program has ended, and all of its stalls are told; failed: it ended not well by itself. Says which of them count.
 * No more commands come. */
void stall_watch_finish(struct stall_watch *watch, bool failed);
/* A stall counts: the run is to fail. */
bool stall_watch_fails(const struct stall_watch *watch);
/* A command runs, or waits. */
bool stall_watch_runs(const struct stall_watch *watch);
/* Commands go now. */
void stall_watch_stop(struct stall_watch *watch);

#endif
