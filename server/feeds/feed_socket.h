/*
 * feed_socket.h - where programs hand in their feeds.
 *
 *   program: hello + memfd -> feed_socket -> profile_attach
 *
 * A peer that does not speak as message.h says is closed, and costs nothing but that.
 *
 * Ownership  Borrows profile, service and loop. Connections belong to the loop; free after
 *            loop_free.
 * Threads    The service thread.
 * Errors     0, -ISOSCOPE_NO_MEMORY, -ISOSCOPE_SYSTEM.
 */
#ifndef ISOSCOPE_FEED_SOCKET_H
#define ISOSCOPE_FEED_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct feed_greeting;
struct feed_socket;
struct loop;
struct profile;
struct service;

struct feed_socket_options {
    struct profile *profile;
    struct service *service; /* hears of programs that are not sampled */
    const char *path;        /* of the socket, which is made here; NULL: another process has it */
    const uid_t *users;      /* whose programs may come besides our own user's and root's */
    size_t user_count;
    bool outside; /* programs are sampled from outside: none is missed for want of the sampler */
};

int feed_socket_new(struct feed_socket **out, struct loop *loop,
                    const struct feed_socket_options *options);
void feed_socket_free(struct feed_socket *feed); /* NULL is fine */

/* A program said hello, here or to another process. Takes over its descriptors. */
void feed_socket_take(struct feed_socket *feed, const struct feed_greeting *greeting);

/* Takes at once what programs have sent already: they may have ended since. */
void feed_socket_drain(struct feed_socket *feed);

/* How many programs have said hello, ever. */
unsigned feed_socket_hellos(const struct feed_socket *feed);
/* The rest of what the user is told of programs that ran without being sampled. */
void feed_socket_say_unsampled(struct feed_socket *feed);

#endif
