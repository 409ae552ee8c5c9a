/*
 * jobs.h - what the symbol worker has been asked for and not done yet.
 *
 *   symbolizer_expect (modules), symbolizer_want_code, symbolizer_want_frames -> jobs -> worker
 *
 * A module's symbols go before frames: they serve all of its frames, at once. So does code: it is
 * one function's.
 *
 * Ownership  All zeros is empty, jobs_free ends it. Modules are borrowed.
 * Threads    One at a time (the symbolizer's lock).
 */
#ifndef ISOSCOPE_JOBS_H
#define ISOSCOPE_JOBS_H

#include "listing.h"

#include <stdbool.h>

struct job_frames {
    uint64_t *frames; /* FRAME_KEY */
    uint32_t count, capacity;
};

struct jobs {
    struct module *queue[MODULES_MAX]; /* a ring: each module waits at most once */
    uint32_t first, count;
    struct job_frames frames;
    struct code_request *codes; /* a list, oldest first */
    uint32_t done, asked;       /* modules, as symbolizer_progress says them */
    uint64_t finished;
};

/* All that is taken at once: a module's symbols, or else a function's code, which the taker
 * releases, or else all frames, which it frees. */
struct job {
    struct module *module;
    struct code_request *code;
    struct job_frames frames;
};

void jobs_free(struct jobs *jobs);

/* False: its symbols are there, or on their way. */
bool jobs_add_module(struct jobs *jobs, struct module *module);
/* False: no memory. */
bool jobs_add_frame(struct jobs *jobs, struct module *module, uint64_t frame);
/* Takes over a reference. */
void jobs_add_code(struct jobs *jobs, struct code_request *request);
/* False: there is nothing to do. */
bool jobs_take(struct jobs *jobs, struct job *out);
/* One of the module's is done: its symbols, a function's code, or one frame. */
void jobs_finish(struct jobs *jobs, struct module *module);
bool jobs_idle(const struct jobs *jobs);

#endif
