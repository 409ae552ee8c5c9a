/*
 * session.h - one client's WebSocket: fragments become messages, messages become frames.
 *
 *   frames -> session_receive -> client_receive ... client_send -> session_write -> frames
 *
 * A client that does not read is dropped after patience_seconds, without a close frame, which it
 * would not read either; so is one that leaves a message unfinished. Others notice nothing of
 * either.
 *
 * Ownership  A session lives in the memory that libwebsockets keeps for each connection.
 * Threads    The service thread.
 * Errors     Results are for the libwebsockets callback: 0, or -1 to end the connection, its
 *            close code already set.
 */
#ifndef ISOSCOPE_SESSION_H
#define ISOSCOPE_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct client;
struct lws;
struct service;

enum {
    SESSION_MESSAGE_MAX = 8 * 1024 * 1024, /* a longer request is no request */
    SESSION_PIECE_BYTES = 32 * 1024,       /* then it is another client's turn */
};

struct session {
    struct session *next, **link; /* in the list of web.c */
    struct lws *wsi;
    struct client *client;
    char *text; /* the message that is coming in */
    size_t length, capacity;
    bool http;            /* it is one GET (http_call.h): no frames */
    int patience_seconds; /* it may stand still so long: not reading, or in the middle of a message
                           */
    uint32_t progress;    /* pieces that went out or came in */
    uint32_t progress_seen;
    int unsent_seen;   /* bytes in the socket, when its timer was set */
    bool timed;        /* its timer runs */
    bool too_long;     /* its message was: close for it */
    bool leaving;      /* we are going away: send what is queued, then close */
    bool last_seconds; /* a deadline for closing has been set */
};

int session_open(struct session *session, struct lws *wsi, struct service *service,
                 int patience_seconds);
void session_close(struct session *session);

int session_receive(struct session *session, const char *bytes, size_t length);
/* The socket takes the next piece. */
int session_write(struct session *session, uint8_t *buffer, size_t buffer_size);
/* client_send gave nothing: it may have worked on something, and goes on in another turn. */
void session_worked(struct session *session);
/* Asks for session_write when there is something to send, or the connection is to end. */
void session_refresh(struct session *session);

/* Its timer came. -1: it has stood still. */
int session_timer(struct session *session);
/* It is to end, and gets nothing more. */
bool session_must_end(const struct session *session);

/* Nothing is left to send. */
bool session_quiet(const struct session *session);
void session_leave(struct session *session);

#endif
