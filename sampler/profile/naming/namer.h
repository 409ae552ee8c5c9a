/*
 * namer.h - the symbol worker: reads the symbols of modules, and makes addresses into functions and
 * lines.
 *
 *   collector (a module's first sample) -> namer_expect -> worker thread -> module->symbols
 *   snapshot (addresses without a chain) -> namer_want_frames -> worker thread -> chains, functions
 *
 * Symbols are read at once, lines only for addresses that somebody wants to see.
 *
 * Ownership  The namer borrows everything in its options.
 * Threads    namer_start makes the worker; before that all is done in the caller. The calls below
 *            namer_free: any thread.
 * Errors     namer_new and namer_start: 0, -ISOSCOPE_NO_MEMORY or -ISOSCOPE_SYSTEM; namer_new also
 *            what symbol_server_new says.
 */
#ifndef ISOSCOPE_NAMER_H
#define ISOSCOPE_NAMER_H

#include "chains.h"
#include "functions.h"
#include "registry.h"

#include <stdbool.h>

struct namer;

struct namer_options {
    struct registry *registry;
    struct functions *functions;
    struct chains *chains;
    void (*changed)(void *context); /* on the worker, when more is known; NULL is fine */
    void *context;
    bool ask_servers; /* debuginfod's, for what is not on this machine */
    bool off;         /* names nothing: namer_expect does nothing, and nobody calls the others */
};

/* Modules that somebody asked something about, and those of them for which all is answered. */
struct namer_progress {
    uint32_t done, asked;
    uint64_t finished; /* jobs since the start: it grows when more is known */
};

int namer_new(struct namer **out, const struct namer_options *options);
int namer_start(struct namer *namer);
/* Ends the worker; what waits stays unread. NULL is fine. */
void namer_free(struct namer *namer);

/* True: its symbols are there. False: the worker has been asked for them. */
bool namer_want(struct namer *namer, struct module *module);
/* They will probably be wanted: a worker may read them already. */
void namer_expect(struct namer *namer, struct module *module);
/* Frames (PROFILE_FRAME) that have no chain yet, of modules with files. 0: the worker has been
 * asked for them. 1: there is no worker, and the chains are there. -ISOSCOPE_NO_MEMORY. */
int namer_want_frames(struct namer *namer, const uint64_t *frames, uint32_t count);

struct namer_progress namer_progress(struct namer *namer);

#endif
