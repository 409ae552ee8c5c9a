/*
 * session_upload.h - symbols of a session's modules to a store that machines share.
 *
 *   session -> modules with a build id that samples are in -> symbol_store (server/push) -> a line each
 *
 * Errors     Said on stderr; what became of each module on stdout.
 */
#ifndef ISOSCOPE_SESSION_UPLOAD_H
#define ISOSCOPE_SESSION_UPLOAD_H

#include <stdbool.h>
#include <stdint.h>

struct session_upload_options {
    const char *file;    /* the session */
    const char *url;     /* the store; NULL: nothing is uploaded */
    const char *headers; /* a file; NULL: none */
    uint64_t bytes_max;  /* of a debug file */
    bool dry;
};

/* Returns the exit status: STATUS_REFUSED, the store did not want one; STATUS_UNSENT, it is in trouble. */
int session_upload(const struct session_upload_options *options);

#endif
