/*
 * symbol_store.h - debug files to a store that machines share: an HTTP server that keeps what is PUT.
 *
 *   module -> its debug file on this machine -> HEAD, PUT <url>/buildid/ID/debuginfo
 *
 * The paths are debuginfod's: what serves that folder is a debuginfod for its clients, and Debian's
 * debuginfod itself serves it (-F). Engines' own ways of upload are gRPC.
 *
 * Threads    One.
 * Errors     symbol_store_new: 0, -ISOSCOPE_NO_MEMORY, -ISOSCOPE_INVALID with a sentence in error.
 */
#ifndef ISOSCOPE_SYMBOL_STORE_H
#define ISOSCOPE_SYMBOL_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol_store;

struct symbol_store_plan {
    const char *url;
    const char *headers; /* push_post.h */
    uint64_t bytes_max;  /* of a file */
    bool dry;            /* nothing is sent; what is there is asked for */
};

int symbol_store_new(struct symbol_store **out, const struct symbol_store_plan *plan, char *error,
                     size_t error_size);
void symbol_store_free(struct symbol_store *store); /* NULL is fine */

enum symbol_stored {
    SYMBOL_SENT,    /* dry: would be */
    SYMBOL_THERE,   /* the store has it */
    SYMBOL_NO_FILE, /* this machine has no symbols of it */
    SYMBOL_LARGE,
    SYMBOL_REFUSED, /* by the store */
    SYMBOL_TROUBLE, /* of the store; all others would see the same */
};

struct symbol_report {
    uint64_t bytes;
    char reason[256]; /* "": there is nothing to say */
};

/* The module's debug file, or the module where it has symbols itself. build_id: hex. */
enum symbol_stored symbol_store_module(struct symbol_store *store, const char *path,
                                       const char *build_id, struct symbol_report *out);

#endif
