/*
 * feed_socket.h - where programs hand in their feeds.
 *
 *   program: hello + memfd -> feed_socket -> profile_attach;  settings -> program
 *   goodbye, or the end of the socket -> profile_hangup
 *
 * A peer that does not speak as message.h says is closed, and costs nothing but that.
 *
 * Ownership  Borrows profile and loop. Connections belong to the loop; free after loop_free.
 * Threads    The service thread.
 * Errors     0, -ISOSCOPE_NO_MEMORY, -ISOSCOPE_SYSTEM.
 */
#ifndef ISOSCOPE_FEED_SOCKET_H
#define ISOSCOPE_FEED_SOCKET_H

struct feed_socket;
struct loop;
struct profile;

struct feed_socket_options {
    struct profile *profile;
    const char *path; /* of the socket, which is made here */
};

int feed_socket_new(struct feed_socket **out, struct loop *loop,
                    const struct feed_socket_options *options);
void feed_socket_free(struct feed_socket *feed); /* NULL is fine */

/* Takes at once what programs have sent already: they may have ended since. */
void feed_socket_drain(struct feed_socket *feed);

/* How many programs have said hello, ever. */
unsigned feed_socket_hellos(const struct feed_socket *feed);
/* How many were started as another user, and so without being sampled. */
unsigned feed_socket_other_users(const struct feed_socket *feed);

#endif
