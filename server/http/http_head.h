/*
 * http_head.h - a request's head: is it all there, and what does it say?
 *
 *   bytes, as they come -> http_head_scan -> http_head_read -> struct http_request
 *
 * Strict where RFC 9112 lets a server choose: what two readers could understand differently (a
 * folded line, a bare LF, two lengths) is refused. A request's body is not read here.
 *
 * Ownership  struct http_request points into the text it was read from.
 * Errors     The status to refuse the request with: 400, 414, 431, 501, 505.
 */
#ifndef ISOSCOPE_HTTP_HEAD_H
#define ISOSCOPE_HTTP_HEAD_H

#include <stdbool.h>
#include <stddef.h>

enum {
    HTTP_LINE_BYTES_MAX = 16 * 1024, /* of the request line: 414 */
    HTTP_HEAD_BYTES_MAX = 32 * 1024, /* 431; a browser sends all cookies that localhost ever got */
    HTTP_FIELDS_MAX = 128,
    HTTP_ARGUMENTS_MAX = 64,
};

enum http_scanned { HTTP_HEAD_UNFINISHED, HTTP_HEAD_WHOLE, HTTP_HEAD_REFUSED };

/* Zeroed, it is at the beginning. */
struct http_head_scan {
    size_t seen;    /* bytes that were looked at */
    size_t line;    /* where this line begins */
    size_t fields;  /* lines that ended after the request line */
    bool past_line; /* the request line has ended */
};

/* text: all that has come, the same as last time and more. Whole: *status is the length of the
 * head. Refused: it is the status. */
enum http_scanned http_head_scan(struct http_head_scan *scan, const char *text, size_t length,
                                 size_t *status);

struct http_field {
    const char *name, *value;
};

struct http_request {
    const char *method;
    const char *authority; /* of an absolute target: stands for Host; NULL: there is none */
    char *path;            /* decoded; "" where the target has none */
    bool path_has_nul;
    char *query; /* not decoded; NULL: there is none */
    int minor;   /* HTTP/1.minor */
    bool has_body;
    size_t body_length; /* 0 where it says none: in chunks */
    struct http_field fields[HTTP_FIELDS_MAX];
    size_t field_count;
};

/* text: a whole head of that length, which is changed. 0, or the status. */
int http_head_read(struct http_request *out, char *text, size_t length);

/* The field's value after *at, which begins as 0; NULL: there are no more of that name. */
const char *http_field_next(const struct http_request *request, const char *name, size_t *at);
/* The first one's; "" when it is absent. */
const char *http_field(const struct http_request *request, const char *name);
/* Is the word an element of the lists in the fields of that name? In any case of letters. */
bool http_field_lists(const struct http_request *request, const char *name, const char *word);

/* Decodes "a=1&b=x%20y" in place, '+' as a space. False: more than HTTP_ARGUMENTS_MAX, or not to be
 * decoded: *malformed. */
bool http_arguments(char *query, const char *out[HTTP_ARGUMENTS_MAX], size_t *count,
                    bool *malformed);

/* A token of RFC 9110: letters, digits and some signs. */
bool http_is_token(const char *text, size_t length);

#endif
