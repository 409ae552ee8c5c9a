/*
 * http_answer.h - one whole HTTP answer, after which the connection ends: one page needs no more.
 *
 * Ownership  What struct http_answer points to is lent, or its own text.
 */
#ifndef ISOSCOPE_HTTP_ANSWER_H
#define ISOSCOPE_HTTP_ANSWER_H

#include <stddef.h>

enum {
    HTTP_ANSWER_HEADERS_BYTES = 1536,
    HTTP_ANSWER_TEXT_BYTES = 2048,
    HTTP_ANSWER_HEAD_BYTES = HTTP_ANSWER_HEADERS_BYTES + 512,
};

struct http_answer {
    const char *status; /* "200 OK" */
    const char *type;
    char headers[HTTP_ANSWER_HEADERS_BYTES]; /* more of them, each with its line end, or "" */
    const void *body;                        /* NULL: the answer has none, as 304 */
    size_t size;
    char text[HTTP_ANSWER_TEXT_BYTES]; /* for a body that is made for it */
};

/* The token is in the URL, so no other site may see it. */
#define HTTP_COMMON_HEADERS                                                                        \
    "Connection: close\r\n"                                                                        \
    "Referrer-Policy: no-referrer\r\n"                                                             \
    "X-Content-Type-Options: nosniff\r\n"                                                          \
    "X-Frame-Options: SAMEORIGIN\r\n"

/* Nor may a cache, where an answer does not say otherwise. */
#define HTTP_NO_CACHE "Cache-Control: no-store\r\n"

/* Plain text that is not to be kept. more: one more header with its line end, or "". */
void http_answer_say(struct http_answer *out, const char *status, const char *more,
                     const char *body);

/* The line of the status and all headers. Returns its bytes; 0: it is too long. */
size_t http_answer_head(const struct http_answer *answer, char out[HTTP_ANSWER_HEAD_BYTES]);

#endif
