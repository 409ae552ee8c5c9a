/*
 * visitor.h - one connection from its first byte on: a stranger until its request shows the token,
 * then an answer on its way, or a session.
 *
 *   connection -> head (http_head.h) -> http_decide -> answer | visitor_host.opens -> session
 *
 * Ownership  A visitor frees itself with its connection; visitor_host.left is its last word.
 * Threads    The service thread.
 * Errors     0, -ISOSCOPE_NO_MEMORY, -ISOSCOPE_SYSTEM.
 */
#ifndef ISOSCOPE_VISITOR_H
#define ISOSCOPE_VISITOR_H

#include "../http/http.h"
#include "session.h"

#include <stdbool.h>
#include <stdint.h>

struct connection;
struct loop;
struct visitor;

/* Who lets visitors in (web.c). */
struct visitor_host {
    struct http_site (*site)(void *context);
    /* It knows the token. */
    void (*admitted)(void *context, struct visitor *visitor);
    /* May it have a session? False: there are too many. */
    bool (*has_place)(void *context, enum http_kind kind);
    /* Its session has begun; and a message, or a part of it, has been taken. */
    void (*opened)(void *context, struct visitor *visitor);
    void (*heard)(void *context, struct visitor *visitor);
    /* It waits for a profile: time is to be minded. */
    void (*pulled)(void *context);
    void (*told)(void *context); /* or something was sent */
    void (*left)(void *context, struct visitor *visitor);
    struct service *service;
    uint32_t patience_ms;
    uint32_t request_ms; /* so long it may take to say what it wants */
    void *context;
};

struct visitor {
    struct visitor *next, *previous; /* web.c's */
    const struct visitor_host *host;
    struct connection *connection;
    char *head; /* what has come of the request; NULL: it came in one piece, or has been read */
    size_t length;
    struct http_head_scan scan;
    bool admitted, counted; /* counted: web.c's */
    bool has_session;
    struct session session;
};

/* Takes over fd, also on failure. */
int visitor_new(struct visitor **out, struct loop *loop, int fd, const struct visitor_host *host);

#endif
