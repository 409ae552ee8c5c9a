/*
 * loop.h - the service thread: libwebsockets' loop, and our own descriptors in it.
 *
 * Everything that the service waits for is a descriptor: sockets, signals (signalfd), time
 * (timerfd), other threads (eventfd). So there is one place that waits, and nothing polls.
 *
 * Ownership  The loop owns the descriptors it watches and closes them.
 * Threads    One, the service thread.
 * Errors     0, -ISOSCOPE_NO_MEMORY, -ISOSCOPE_SYSTEM.
 */
#ifndef ISOSCOPE_LOOP_H
#define ISOSCOPE_LOOP_H

#include <stdbool.h>

struct loop;
struct lws_protocols;
struct watch;

struct loop_options {
    const struct lws_protocols
        *web;            /* HTTP and WebSocket on the sockets given to loop_serve; copied */
    int request_seconds; /* so long a connection may take to say what it wants */
    bool deflate;        /* agree to permessage-deflate where a client offers it */
};

int loop_new(struct loop **out, const struct loop_options *options);
/* Closes everything; watches end, and sockets are told so. NULL is fine. */
void loop_free(struct loop *loop);

/* Waits for something to do and does it. */
int loop_step(struct loop *loop);

/* An accepted TCP connection for the web protocol. Takes over fd, also on failure. */
int loop_serve(struct loop *loop, int fd);

struct watch_events {
    /* There is something to read, or the other side is gone. False ends the watch. */
    bool (*ready)(void *context);
    /* The watch has ended and its descriptor is closed. May be NULL. */
    void (*ended)(void *context);
};

/* Takes over fd, also on failure; then ended is not called. out may be NULL. */
int loop_watch(struct loop *loop, struct watch **out, int fd, const struct watch_events *events,
               void *context);
/* Ends the watch in so many seconds; 0: never. */
void watch_timeout(struct watch *watch, int seconds);
/* Ends the watch soon, from the loop. */
void watch_end(struct watch *watch);

#endif
