/*
 * room_push.h - the profiles of one user's programs on their way to an engine: with his labels, from a
 * queue of his own.
 *
 * Ownership  Borrows options, begin and host: room_push_stop before the host is closed, room_push_free after it.
 * Threads    The service thread.
 * Errors     Said on stderr: then nothing is pushed, and the rest goes on.
 */
#ifndef ISOSCOPE_ROOM_PUSH_H
#define ISOSCOPE_ROOM_PUSH_H

#include <stdbool.h>

struct push_options;
struct room_begin;
struct room_push;
struct service_host;

/* NULL: nothing is. It is for all functions here. */
struct room_push *room_push_start(const struct push_options *options,
                                  const struct room_begin *begin, struct service_host *host);
/* The last window ends now. */
void room_push_finish(struct room_push *push);
bool room_push_runs(const struct room_push *push); /* and is not over */
void room_push_stop(struct room_push *push);
void room_push_free(struct room_push *push);

#endif
