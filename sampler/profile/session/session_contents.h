/*
 * session_contents.h - what a saved profile has besides the parts of all: its files.
 */
#ifndef ISOSCOPE_SESSION_CONTENTS_H
#define ISOSCOPE_SESSION_CONTENTS_H

#include "session_archive.h"

struct session_part {
    char *path, *producer, *host, *state;
    char **command;
    struct saved_session facts; /* refers to those */
    struct session_archive archive;
};

struct session_contents {
    struct session_part *parts; /* do not move */
    size_t count;
};

/* With so many empty parts. NULL: no memory. */
struct session_contents *session_contents_new(size_t count);
void session_contents_free(struct session_contents *contents); /* NULL is fine */

#endif
