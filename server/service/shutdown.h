/*
 * shutdown.h - how a service goes away without taking the words out of its clients' mouths.
 *
 * Waits until no client asks or is answered any more, then closes them, then is done. All of it
 * is bounded: a client that hangs cannot hold the program's exit status back.
 *
 * Ownership  Borrows loop and web; shutdown_free after loop_free.
 * Threads    The service thread.
 */
#ifndef ISOSCOPE_SHUTDOWN_H
#define ISOSCOPE_SHUTDOWN_H

#include <stdbool.h>

struct shutdown;
struct loop;
struct web;

int shutdown_new(struct shutdown **out, struct loop *loop, struct web *web);
void shutdown_free(struct shutdown *shutdown); /* NULL is fine */

/* reason: what clients are told; lent for good. at_once: close them without waiting for silence. */
void shutdown_begin(struct shutdown *shutdown, const char *reason, bool at_once);
bool shutdown_done(const struct shutdown *shutdown);

#endif
