/*
 * http.h - what a plain HTTP request gets, and which requests may become a WebSocket.
 *
 * Threads    The service thread.
 * Errors     A refusal is an answer. All answers close their connection: one page needs no more.
 */
#ifndef ISOSCOPE_HTTP_H
#define ISOSCOPE_HTTP_H

#include "access.h"

#include <stdbool.h>
#include <stdint.h>

struct lws;

enum {
    HTTP_SUBPROTOCOL_BYTES = 128,
    HTTP_CALL = 1, /* it is an RPC, and allowed: http_call.h goes on */
};

struct http_site {
    const char *token; /* "": none is asked for */
    const struct access_rules *rules;
    const char *dds_uri; /* where WebSockets are sent instead (302); NULL: they may come in */
};

/* Answers the request: what the libwebsockets callback is to return. Or HTTP_CALL, with method. */
int http_serve(struct lws *wsi, const struct http_site *site, char method[ACCESS_METHOD_BYTES]);

/* The head of an answer that comes in chunks. Negative when the connection is gone. */
int http_begin_chunks(struct lws *wsi);
/* Refusals of an RPC that is allowed: its query is too long; there are too many clients. */
int http_refuse_query(struct lws *wsi);
int http_refuse_full(struct lws *wsi);

/*
 * May this request become a WebSocket? 0: yes, and subprotocol is what to agree on ("" when none
 * was offered). Else it has been answered, and the result is for the libwebsockets callback.
 */
int http_upgrade(struct lws *wsi, const struct http_site *site, bool full,
                 char subprotocol[HTTP_SUBPROTOCOL_BYTES]);

#endif
