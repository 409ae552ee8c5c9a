/*
 * symbolizer.h - the symbol worker: reads the symbols of modules, and makes addresses into
 * functions and lines.
 *
 *   collector (a module's first sample) -> symbolizer_expect -> worker thread -> module->symbols
 *   snapshot (addresses without a chain) -> symbolizer_want_frames -> worker thread -> chains,
 *   functions
 *
 * Symbols are read at once, lines only for addresses that somebody wants to see.
 *
 * Ownership  The symbolizer borrows everything in its options.
 * Threads    symbolizer_start makes the worker; before that all is done in the caller. The calls
 *            below symbolizer_free: any thread.
 * Errors     symbolizer_new and symbolizer_start: 0, -ISOSCOPE_NO_MEMORY or -ISOSCOPE_SYSTEM;
 *            symbolizer_new also what symbol_server_new says.
 */
#ifndef ISOSCOPE_SYMBOLIZER_H
#define ISOSCOPE_SYMBOLIZER_H

#include "inline_chains.h"
#include "functions.h"
#include "listing.h"
#include "registry.h"

#include <stdbool.h>

struct symbolizer;

struct symbolizer_options {
    struct registry *registry;
    struct functions *functions;
    struct inline_chains *chains;
    void (*changed)(void *context); /* on the worker, when more is known; NULL is fine */
    void *context;
    bool ask_servers; /* debuginfod's, for what is not on this machine */
    bool names_only;  /* of symbols: no lines and no inlined functions, so no debug data is read */
    bool off; /* names nothing: symbolizer_expect does nothing, and nobody calls the others */
};

/* Modules that somebody asked something about, and those of them for which all is answered. */
struct symbolizer_progress {
    uint32_t done, asked;
    uint64_t finished; /* jobs since the start: it grows when more is known */
};

int symbolizer_new(struct symbolizer **out, const struct symbolizer_options *options);
int symbolizer_start(struct symbolizer *symbolizer);
/* Ends the worker; what waits stays unread. NULL is fine. */
void symbolizer_free(struct symbolizer *symbolizer);

/* The module's symbols will probably be wanted: a worker may read them already. */
void symbolizer_expect(struct symbolizer *symbolizer, struct module *module);
/* Frames (FRAME_KEY) that have no chain yet, of modules with files. 0: the worker has been
 * asked for them. 1: there is no worker, and the chains are there. -ISOSCOPE_NO_MEMORY. */
int symbolizer_want_frames(struct symbolizer *symbolizer, const uint64_t *frames, uint32_t count);
/* The function's code: the worker, or the caller where there is none, reads it. */
void symbolizer_want_code(struct symbolizer *symbolizer, struct code_request *request);

struct symbolizer_progress symbolizer_progress(struct symbolizer *symbolizer);

#endif
