/*
 * leave.h - how a service goes away without taking the words out of its clients' mouths.
 *
 * Waits until no client asks or is answered any more, then closes them, then is done. All of it
 * is bounded: a client that hangs cannot hold the program's exit status back.
 *
 * Ownership  Borrows loop and web; leave_free after loop_free.
 * Threads    The service thread.
 */
#ifndef ISOSCOPE_LEAVE_H
#define ISOSCOPE_LEAVE_H

#include <stdbool.h>

struct leave;
struct loop;
struct web;

int leave_new(struct leave **out, struct loop *loop, struct web *web);
void leave_free(struct leave *leave); /* NULL is fine */

/* at_once: close clients without waiting for silence. */
void leave_begin(struct leave *leave, bool at_once);
bool leave_done(const struct leave *leave);

#endif
