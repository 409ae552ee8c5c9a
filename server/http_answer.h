/*
 * http_answer.h - writes one whole HTTP answer, and with it ends the connection.
 *
 * Ownership  All of struct http_answer is lent; the body is copied before http_answer returns.
 * Threads    The service thread.
 */
#ifndef ISOSCOPE_HTTP_ANSWER_H
#define ISOSCOPE_HTTP_ANSWER_H

#include <stddef.h>

struct lws;

struct http_answer {
    const char *status; /* "200 OK" */
    const char *type;
    const char *headers; /* more of them, each with its line end, or "" */
    const void *body;    /* NULL: the answer has none, as 304 */
    size_t size;
};

enum { HTTP_ANSWER_HEADERS_BYTES = 1536 }; /* headers may have so many */

/* The token is in the URL, so no other site may see it. */
#define HTTP_COMMON_HEADERS                                                                        \
    "Connection: close\r\n"                                                                        \
    "Referrer-Policy: no-referrer\r\n"                                                             \
    "X-Content-Type-Options: nosniff\r\n"                                                          \
    "X-Frame-Options: SAMEORIGIN\r\n"

/* Nor may a cache, where an answer does not say otherwise. */
#define HTTP_NO_CACHE "Cache-Control: no-store\r\n"

/* What the libwebsockets callback is to return: the connection's end. */
int http_answer(struct lws *wsi, const struct http_answer *answer);

#endif
