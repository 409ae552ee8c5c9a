/*
 * http.h - what a plain HTTP request gets, and which requests may become a WebSocket.
 *
 * Threads    The service thread.
 * Errors     A refusal is an answer. All answers close their connection: one page needs no more.
 */
#ifndef ISOSCOPE_HTTP_H
#define ISOSCOPE_HTTP_H

#include <stdbool.h>
#include <stdint.h>

struct lws;

enum { HTTP_SUBPROTOCOL_BYTES = 128 };

struct http_site {
    const char *token;
    uint16_t port;
};

/* Answers the request. Returns what the libwebsockets callback is to return. */
int http_serve(struct lws *wsi, const struct http_site *site);

/*
 * May this request become a WebSocket? 0: yes, and subprotocol is what to agree on ("" when none
 * was offered). Else it has been answered, and the result is for the libwebsockets callback.
 */
int http_upgrade(struct lws *wsi, const struct http_site *site, bool full,
                 char subprotocol[HTTP_SUBPROTOCOL_BYTES]);

#endif
