/*
 * loop.h - the service thread: one epoll, and everything that the service waits for in it.
 *
 * Sockets, signals (signalfd), time (timerfd), other threads (eventfd): each is a descriptor with
 * a watch. So there is one place that waits, and nothing polls.
 *
 * Ownership  The loop owns the descriptors it watches and closes them. A watch that ends stays
 *            valid until the step is over.
 * Threads    One, the service thread.
 * Errors     0, -ISOSCOPE_NO_MEMORY, -ISOSCOPE_SYSTEM.
 */
#ifndef ISOSCOPE_LOOP_H
#define ISOSCOPE_LOOP_H

#include <stdbool.h>
#include <stdint.h>

struct loop;
struct io_watch;

/* All get the watch's context; false ends the watch. All but ready may be NULL. */
struct io_watch_events {
    /* There is something to read, or the other side is gone. */
    bool (*ready)(void *context);
    /* What io_watch_turn or io_watch_await_room asked for. */
    bool (*turn)(void *context);
    /* Its time is over. NULL: that ends it. */
    bool (*due)(void *context);
    /* It has ended, and its descriptor is closed. */
    void (*ended)(void *context);
};

int loop_new(struct loop **out);
/* Closes everything; watches end, and are told so. NULL is fine. */
void loop_free(struct loop *loop);

/* Waits for something to do and does it. */
int loop_step(struct loop *loop);

/* Takes over fd, also on failure; then ended is not called. out may be NULL. */
int loop_watch(struct loop *loop, struct io_watch **out, int fd,
               const struct io_watch_events *events, void *context);
/* Does it look whether there is something to read? At first it does. */
void io_watch_reads(struct io_watch *watch, bool reads);
/* One call of turn, after all that is ready now, in the order in which turns were asked for. */
void io_watch_turn(struct io_watch *watch);
/* One call of turn, once the descriptor takes bytes. */
void io_watch_await_room(struct io_watch *watch);
/* So much time has it from now on; forgets an earlier one. 0: all time. */
void io_watch_timeout(struct io_watch *watch, uint32_t milliseconds);
/* Ends the watch soon, from the loop. It gets no more calls but ended. */
void io_watch_end(struct io_watch *watch);

#endif
