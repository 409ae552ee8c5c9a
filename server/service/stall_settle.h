/*
 * stall_settle.h - the end of a program waits until its last stalls are told.
 *
 * The watcher's last look at a loop, and the names of functions, come after the end. That takes some seconds at most;
 * then what there is counts.
 *
 * Ownership  Borrows profile and loop; stall_settle_free after loop_free.
 * Threads    The service thread.
 * Errors     0 or a negative isoscope_error.
 */
#ifndef ISOSCOPE_STALL_SETTLE_H
#define ISOSCOPE_STALL_SETTLE_H

#include <stdbool.h>

struct loop;
struct profile;
struct stall_settle;

int stall_settle_new(struct stall_settle **out, struct loop *loop, struct profile *profile,
                     void (*settled)(void *context), void *context);
void stall_settle_free(struct stall_settle *settle); /* NULL is fine */

/* settled is called once, from the loop; or now, where no stall is open and it need not be sure. */
void stall_settle_begin(struct stall_settle *settle, bool sure);
/* It is not waited for any more. */
void stall_settle_stop(struct stall_settle *settle);

#endif
