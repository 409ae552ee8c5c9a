/*
 * listing.h - a function's instructions, each with its line and what it calls.
 *
 *   code_request (queued in jobs.h) -> symbol worker -> listing_read: file, symbols, lines -> done
 *
 * Ownership  Counted: who asks holds it, and the queue until it is read.
 * Threads    code_request_read: the symbol worker. The rest: any.
 */
#ifndef ISOSCOPE_LISTING_H
#define ISOSCOPE_LISTING_H

#include "../code.h"
#include "../symbols/lines.h"
#include "functions.h"
#include "registry.h"

#include <stdatomic.h>

struct code_request {
    _Atomic uint32_t references;
    atomic_bool done;
    struct code_request *next; /* in the queue */
    struct module *module;
    uint64_t start, from;
    struct code_listing listing;
    struct code_instruction *instructions;
    uint32_t capacity;
};

/* One reference, the caller's. NULL: no memory. */
struct code_request *code_request_new(struct module *module, uint64_t start, uint64_t from);
struct code_request *code_request_hold(struct code_request *request);
void code_request_release(struct code_request *request); /* NULL is fine */

/* The listing is that there is none. reason: static memory. */
void code_request_refuse(struct code_request *request, const char *reason);
/* The module's symbols have been read. lines may be NULL. */
void code_request_read(struct code_request *request, struct functions *functions,
                       const struct module_file *file, struct lines *lines);

#endif
