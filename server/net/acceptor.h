/*
 * acceptor.h - takes what connects to a listening socket, and rests while there is no descriptor.
 *
 * Without a descriptor a connection can be neither taken nor refused, and the loop would wake for
 * it again and again. So the listener is left alone for a moment; who waits, waits in the kernel.
 *
 * Ownership  The listener becomes the loop's. acceptor_free after loop_free.
 * Threads    The service thread.
 * Errors     0, -ISOSCOPE_NO_MEMORY, -ISOSCOPE_SYSTEM.
 */
#ifndef ISOSCOPE_ACCEPTOR_H
#define ISOSCOPE_ACCEPTOR_H

#include <stdint.h>

struct acceptor;
struct loop;

struct acceptor_events {
    /* A connection that does not block; takes it over. */
    void (*accepted)(void *context, int fd);
    /* There is no descriptor for the next one. May be NULL. */
    void (*exhausted)(void *context);
};

/* Takes over listener, which must not block, also on failure. */
int acceptor_new(struct acceptor **out, struct loop *loop, int listener,
                 const struct acceptor_events *events, void *context);
void acceptor_free(struct acceptor *acceptor); /* NULL is fine */

/* From now on who comes so soon after another is taken at the end of that time, with all that have
 * come until then. Who is woken for each takes a processor from those that come. */
void acceptor_gather(struct acceptor *acceptor, uint32_t milliseconds);

/* Takes at once what has connected already. */
void acceptor_drain(struct acceptor *acceptor);

#endif
