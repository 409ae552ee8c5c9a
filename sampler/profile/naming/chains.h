/*
 * chains.h - what each sampled address is in the source: a frame, or several inlined into one
 * another.
 *
 *   resolver (on the symbol worker) -> chains_put -> chains -> chains_find -> snapshot
 *
 * Bounded: what no window has shown lately is forgotten, and resolved anew when it is asked for.
 *
 * Units      frame: PROFILE_FRAME.
 * Ownership  The table copies chains; file belongs to functions.h.
 * Threads    Any; one lock.
 * Errors     0 or -ISOSCOPE_NO_MEMORY.
 */
#ifndef ISOSCOPE_CHAINS_H
#define ISOSCOPE_CHAINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chains;

enum {
    CHAIN_MAX = 64, /* frames; LINES_FRAMES_MAX */
    CHAINS_BYTES_DEFAULT = 64 * 1024 * 1024,
};

struct chain_frame {
    uint32_t function;  /* functions.h; 0: nothing names it */
    uint32_t line : 30; /* 0: not known */
    uint32_t inlined : 1;
    uint32_t more : 1; /* another frame follows: what this one is inlined into. Set by chains_put */
    const char *file;  /* of the line, where it is not the function's own; else NULL */
};

int chains_new(struct chains **out, size_t bytes_max);
void chains_free(struct chains *chains); /* NULL is fine */

/* Innermost first; returns how many. 0: not known yet. *asked: somebody has asked for it. */
uint32_t chains_find(struct chains *chains, uint64_t frame, struct chain_frame out[CHAIN_MAX],
                     bool *asked);
/* It has been asked for: chains_find says so, once its caller has to know. */
int chains_mark_asked(struct chains *chains, uint64_t frame);
/* count: 1 to CHAIN_MAX. */
int chains_put(struct chains *chains, uint64_t frame, const struct chain_frame *frames,
               uint32_t count);
/* A window has been shown: now old ones may go. Not before, or a window larger than the bound
 * would never come together. */
void chains_settle(struct chains *chains);
size_t chains_bytes(struct chains *chains);

#endif
