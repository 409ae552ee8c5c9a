/*
 * session_copy.h - a session file written anew, with the names that this machine knows.
 *
 *   file -> profile -> symbol worker -> save (recorder.h) -> file beside it -> its name
 *
 * Errors     Said on stderr. What was there stays as it was.
 */
#ifndef ISOSCOPE_SESSION_COPY_H
#define ISOSCOPE_SESSION_COPY_H

#include <stdbool.h>

struct session_copy_options {
    const char *from, *to; /* may be the same */
    bool debuginfod;
};

/* Returns the exit status. */
int session_copy(const struct session_copy_options *options);

#endif
