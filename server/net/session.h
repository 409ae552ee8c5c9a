/*
 * session.h - one client of the protocol, behind a WebSocket or one GET (http_call.h).
 *
 *   bytes -> session_receive -> frames -> messages -> client_receive
 *   client_send -> session_turn -> frames -> bytes
 *
 * Who breaks the WebSocket protocol hears why (1002, 1007, 1009), and is read no further. A client
 * that stands still is connection.h's business.
 *
 * Ownership  Borrows the connection and the service.
 * Threads    The service thread.
 * Errors     0, -ISOSCOPE_NO_MEMORY. A session that must end has its connection ended.
 */
#ifndef ISOSCOPE_SESSION_H
#define ISOSCOPE_SESSION_H

#include "../http/frames.h"
#include "../http/packing.h"
#include "../http/utf8.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct client;
struct connection;
struct gzip;
struct service;

enum {
    SESSION_MESSAGE_MAX = 8 * 1024 * 1024, /* a longer request is no request */
    SESSION_PIECE_BYTES = 32 * 1024,       /* then it is another client's turn */
};

struct session {
    struct session *next, **link; /* in the list of web.c */
    struct connection *connection;
    struct client *client;
    struct packing *packing; /* NULL: messages are plain */
    struct frames frames;
    struct utf8 utf8;
    char *text; /* the message that is coming in */
    size_t length, capacity;
    uint8_t pong[FRAMES_CONTROL_MAX];
    uint8_t pong_length;
    bool pong_due;
    bool http;           /* it is one GET: no frames */
    bool chunked;        /* as HTTP/1.1 has it */
    struct gzip *gzip;   /* NULL: the answer goes out as it is */
    size_t posted_left;  /* of the request's body, which becomes the text */
    bool mid_packed;     /* a frame of the message that goes out has gone */
    bool too_long;       /* the message that is coming in: read to its end, and not kept */
    const char *leaving; /* why; we are going away: send what is queued, then close */
    bool closing;        /* our close frame is out */
    bool last_seconds;   /* a deadline for closing has been set */
    bool holds_place;    /* web.c's */
    int64_t spoke_ms;    /* web.c's: when it has said something last */
};

/* packing: NULL when messages are plain, else taken over. */
int session_open(struct session *session, struct connection *connection, struct service *service,
                 struct packing *packing);
void session_close(struct session *session);

/* bytes are changed. False: the connection is to end at once. */
bool session_receive(struct session *session, uint8_t *bytes, size_t size);
/* Bytes of the body of one that is a POST. False: no memory. */
bool session_take_posted(struct session *session, const uint8_t *bytes, size_t size);
/* There is room for the next piece. */
void session_turn(struct session *session);
/* client_send gave nothing: it may have worked on something, and goes on in another turn. */
void session_worked(struct session *session);
/* Asks for a turn when there is something to send, or the connection is to end. */
void session_refresh(struct session *session);
/* Closes it, by a frame. reason: at most 123 bytes of UTF-8. */
void session_dismiss(struct session *session, uint16_t code, const char *reason);

/* It is to end, and gets nothing more. */
bool session_must_end(const struct session *session);
/* It owes us something: to read, or the end of its message. */
bool session_owes(const struct session *session);
/* Nothing is left to send. */
bool session_quiet(const struct session *session);
void session_leave(struct session *session, const char *reason); /* reason: lent for good */

#endif
