/*
 * push_post.h - one request at a time, by libcurl, which is loaded when somebody pushes or uploads.
 *
 * A POST's body, or what a PUT's file has. Redirects are not followed: they would carry profiles and
 * headers to a place that nobody named.
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
/* Is it there? Of the answer there is only the status. */
void push_post_head(struct push_post *post, const char *url, struct push_reply *out);
/* The file's first so many bytes, at the other side's pace: only one that stands still for long is
 * given up. fd stays the caller's, and its position where it was. */
void push_post_file(struct push_post *post, const char *url, int fd, uint64_t bytes,
                    struct push_reply *out);
/* What is being sent, and all that follows, ends at once. */
void push_post_cancel(struct push_post *post);
/* So it does as soon as there is something to read from fd, which is the caller's. */
void push_post_end_with(struct push_post *post, int fd);

#endif
