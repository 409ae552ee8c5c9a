/*
 * web.h - all who come: their requests, their sessions, and how many may be there at once.
 *
 *   acceptor -> connection -> visitor (a request's head) -> http (who may come in)
 *            -> session (text in, text out) -> protocol/service.h
 *
 * Places: see server/README.md.
 *
 * Ownership  Borrows service and token; both outlive the loop that serves. web_free after
 *            loop_free.
 * Threads    The service thread.
 * Errors     0, -ISOSCOPE_NO_MEMORY, -ISOSCOPE_SYSTEM.
 */
#ifndef ISOSCOPE_WEB_H
#define ISOSCOPE_WEB_H

#include "../http/access.h"

#include <stdbool.h>
#include <stdint.h>

struct loop;
struct service;
struct web;

struct web_options {
    struct service *service;
    const char *token; /* "": none is asked for */
    struct access_rules access;
    uint32_t patience_seconds; /* connection.h */
    bool deflate;              /* agree to permessage-deflate where a client offers it */
};

int web_new(struct web **out, const struct web_options *options);
void web_free(struct web *web); /* NULL is fine */

/* Takes over listener, also on failure; -1: nobody can come. */
int web_listen(struct web *web, struct loop *loop, int listener);

/* A connection that another process accepted. Takes over fd, which does not block. */
void web_take(struct web *web, int fd);

/* The profile changed, or time has passed: answers what waited, sends events. */
void web_poll(struct web *web);

unsigned web_clients(const struct web *web);
/* Grows with each message and piece; when it stands still, nobody asks and nobody is answered. */
uint64_t web_activity(const struct web *web);
bool web_quiet(const struct web *web); /* nothing is left to send */
/* Closes every session with 1001, after what it is owed. */
void web_leave(struct web *web, const char *reason);

#endif
