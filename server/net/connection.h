/*
 * connection.h - one accepted socket: bytes in, bytes out as fast as the other side takes them, and
 * an end to those who stand still.
 *
 * Standing still: the other side owes something (to read what there is for it, or more), and for
 * patience_ms nothing of it has moved. How long it takes in all does not matter.
 *
 * Ownership  The socket is the loop's. The connection frees itself: ended is its last call.
 * Threads    The service thread.
 * Errors     0, -ISOSCOPE_NO_MEMORY, -ISOSCOPE_SYSTEM. A connection that is broken ends by itself.
 */
#ifndef ISOSCOPE_CONNECTION_H
#define ISOSCOPE_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct connection;
struct loop;

struct connection_events {
    /* bytes may be changed. False ends the connection at once. */
    bool (*received)(void *context, uint8_t *bytes, size_t size);
    /* The other side sends no more; it may still read. False ends the connection. */
    bool (*half_closed)(void *context);
    /* As asked for, and whenever all that was given is with the socket. */
    void (*turn)(void *context);
    /* Does it owe us something besides reading what was given? */
    bool (*owes)(const void *context);
    void (*ended)(void *context);
};

/* Takes over fd, also on failure. */
int connection_new(struct connection **out, struct loop *loop, int fd, uint32_t patience_ms,
                   const struct connection_events *events, void *context);

/* Copies what the socket does not take at once. Negative when the connection is gone. */
int connection_send(struct connection *connection, const void *bytes, size_t size);
/* Nothing waits for the socket. */
bool connection_has_room(const struct connection *connection);
/* Asks for a turn, soon or when there is room. */
void connection_turn(struct connection *connection);
/* What it owed has moved. */
void connection_moved(struct connection *connection);

/* Whatever happens, it ends then. 0: it may stay. */
void connection_deadline(struct connection *connection, uint32_t milliseconds);
/* Nothing more will be sent: once all is with the other side, it ends. What still comes is passed
 * over, for its sender would see a reset instead of our last words. */
void connection_finish(struct connection *connection);
/* At once. */
void connection_end(struct connection *connection);

#endif
