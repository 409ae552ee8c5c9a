/*
 * push_post.h - one POST at a time, by libcurl, which is loaded when somebody pushes.
 *
 * Redirects are not followed: they would carry profiles and headers to a place that nobody named.
 *
 * Threads    One at a time; push_post_cancel: any.
 * Errors     0, -ISOSCOPE_NO_MEMORY, -ISOSCOPE_INVALID (with a sentence in error).
 */
#ifndef ISOSCOPE_PUSH_POST_H
#define ISOSCOPE_PUSH_POST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct push_post;

/* What came of it. */
struct push_reply {
    long status; /* of HTTP; 0: there was no answer that could be understood */
    long retry_after_s;
    char words[160];     /* the begin of the answer's text, or why there was none */
    uint8_t answer[512]; /* its first bytes */
    size_t answer_length;
};

/* headers: a file with a header a line; NULL: none. */
int push_post_new(struct push_post **out, const char *headers, char *error, size_t error_size);
void push_post_free(struct push_post *post); /* NULL is fine */

struct push_body {
    const char *type;
    const void *bytes;
    size_t length;
    const char *encoding; /* around what type says: "gzip"; NULL: none */
};

void push_post_send(struct push_post *post, const char *url, const struct push_body *body,
                    struct push_reply *out);
/* What is being sent, and all that follows, ends at once. */
void push_post_cancel(struct push_post *post);

#endif
