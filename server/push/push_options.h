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
};

extern const struct option_rows push_words;

/* What no row by itself can see; the default of the folder. 0 or -ISOSCOPE_INVALID. */
int push_options_agree(struct push_options *options, char *error, size_t error_size);

#endif
