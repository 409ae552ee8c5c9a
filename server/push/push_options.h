/*
 * push_options.h - the options about pushing, of every command that samples and serves.
 *
 * Rows for a struct push_options, which stays where it is: its texts are pointed to.
 */
#ifndef ISOSCOPE_PUSH_OPTIONS_H
#define ISOSCOPE_PUSH_OPTIONS_H

#include "push_request.h"
#include "../console/option_table.h"

#include <limits.h>

struct push_options {
    struct push_target target;
    bool wanted;               /* there is a target */
    struct push_labels labels; /* the user's */
    const char *headers;       /* a file; NULL: none */
    char folder[PATH_MAX];     /* of the queue, absolute; "": the default */
    bool zstd;                 /* packs what an OTLP receiver gets */
    size_t queue_bytes;
    uint32_t seconds; /* of a window */
    /* Of saved sessions: */
    uint32_t skip;       /* profiles that are not sent */
    uint32_t patience_s; /* with a receiver in trouble */
};

/* The queue's are of programs that run, the last ones of saved sessions. */
extern const struct option_rows push_words, push_queue_words, push_saved_words;

/* A row's: a file of headers; field: a const char *. */
int push_take_headers(void *field, const char *path, char *error, size_t error_size);
/* That the option's file can be read; path: NULL is fine. 0 or -ISOSCOPE_INVALID. */
int push_headers_agree(const char *option, const char *path, char *error, size_t error_size);
/* What no row by itself can see. 0 or -ISOSCOPE_INVALID. */
int push_saved_agree(const struct push_options *options, char *error, size_t error_size);
/* The same, and the default of the folder. */
int push_options_agree(struct push_options *options, char *error, size_t error_size);

#endif
