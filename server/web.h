/*
 * web.h - the clients: the listening port, HTTP, and all WebSocket sessions.
 *
 *   port -> listener -> http (who may come in) -> session (text in, text out) -> protocol/service.h
 *
 * Ownership  Borrows service and token; both outlive the loop that serves. web_free after
 * loop_free. Threads    The service thread. Errors     0, -ISOSCOPE_NO_MEMORY, -ISOSCOPE_SYSTEM.
 */
#ifndef ISOSCOPE_WEB_H
#define ISOSCOPE_WEB_H

#include "access.h"

#include <stdbool.h>
#include <stdint.h>

struct loop;
struct lws_protocols;
struct service;
struct web;

struct web_options {
    struct service *service;
    const char *token; /* "": none is asked for */
    struct access_rules access;
    int patience_seconds; /* session.h */
};

int web_new(struct web **out, const struct web_options *options);
void web_free(struct web *web); /* NULL is fine */

/* For loop_new; web keeps it. */
const struct lws_protocols *web_protocol(struct web *web);
/* Takes over listener, also on failure. */
int web_listen(struct web *web, struct loop *loop, int listener);

/* The profile changed, or time has passed: answers what waited, sends events. */
void web_poll(struct web *web);

unsigned web_clients(const struct web *web);
/* Grows with each message and piece; when it stands still, nobody asks and nobody is answered. */
uint64_t web_activity(const struct web *web);
bool web_quiet(const struct web *web); /* nothing is left to send */
/* Closes every session with 1001, after what it is owed. */
void web_leave(struct web *web);

#endif
