/*
 * http.h - what a request gets: an answer, an RPC, the figures, a profile, or a WebSocket. No sockets here.
 *
 *   request head -> access.h (who may come in) -> HTTP_ANSWER | HTTP_CALL | HTTP_METRICS |
 *                                                 HTTP_PULL | HTTP_SOCKET
 *
 * Ownership  struct http_outcome points into the request.
 * Errors     A refusal is an answer.
 */
#ifndef ISOSCOPE_HTTP_H
#define ISOSCOPE_HTTP_H

#include "access.h"
#include "handshake.h"
#include "http_answer.h"
#include "http_head.h"

#include <stdbool.h>

struct http_site {
    const char *token; /* "": none is asked for */
    const struct access_rules *rules;
    const char *dds_uri; /* where WebSockets are sent instead (302); NULL: they may come in */
    bool deflate;        /* agree to permessage-deflate where a client offers it */
};

enum { HTTP_BODY_BYTES_MAX = 1024 * 1024 }; /* of addresses that names are asked for */

enum http_kind {
    HTTP_ANSWER,
    HTTP_CALL,    /* an RPC, and allowed: http_call.h goes on */
    HTTP_METRICS, /* an answer whose body the service makes */
    HTTP_PULL,    /* a profile, whose path is the outcome's method: http_call.h */
    HTTP_SOCKET,  /* it may become a WebSocket */
};

struct http_outcome {
    enum http_kind kind;
    bool admitted; /* it may come in, and knows the token */
    struct http_answer answer;
    char method[ACCESS_METHOD_BYTES]; /* of the RPC */
    const char *arguments[HTTP_ARGUMENTS_MAX];
    size_t argument_count;
    struct handshake handshake;
};

/* Changes request->query. */
void http_decide(struct http_outcome *out, struct http_request *request,
                 const struct http_site *site);
/* The answer to what is no HTTP that we could answer; status as http_head.h has them. */
void http_refuse_head(struct http_outcome *out, size_t status);
/* There are too many clients for a call or a WebSocket. */
void http_refuse_full(struct http_outcome *out);

#endif
