/*
 * namer.h - the symbol worker: reads the names of modules, one after the other.
 *
 *   collector (a module's first sample) -> namer_want -> worker thread -> module->symbols
 *
 * Threads    namer_start makes the worker; before that namer_want reads in the caller.
 *            namer_want and namer_expect: any thread.
 * Errors     namer_new and namer_start: 0, -ISOSCOPE_NO_MEMORY or -ISOSCOPE_SYSTEM; namer_new also
 *            what symbol_server_new says.
 */
#ifndef ISOSCOPE_NAMER_H
#define ISOSCOPE_NAMER_H

#include "registry.h"

#include <stdbool.h>

struct namer;

struct namer_options {
    void (*changed)(void *context); /* on the worker, after each module; NULL is fine */
    void *context;
    bool ask_servers; /* debuginfod's, for what is not on this machine */
};

int namer_new(struct namer **out, const struct namer_options *options);
int namer_start(struct namer *namer);
/* Ends the worker; what waits stays unread. NULL is fine. */
void namer_free(struct namer *namer);

/* True: the names are there. False: the worker has been asked for them. */
bool namer_want(struct namer *namer, struct module *module);
/* They will probably be wanted: a worker may read them already. */
void namer_expect(struct namer *namer, struct module *module);

#endif
