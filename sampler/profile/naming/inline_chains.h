/*
 * inline_chains.h - what each sampled address is in the source: a frame, or several inlined into
 * one another.
 *
 *   resolver (on the symbol worker) -> inline_chains_put -> inline_chains_find -> snapshot
 *
 * Bounded: what no window has shown lately is forgotten, and resolved anew when it is asked for.
 *
 * Units      frame: FRAME_KEY.
 * Ownership  The table copies chains; file belongs to functions.h.
 * Threads    Any; one lock.
 * Errors     0 or -ISOSCOPE_NO_MEMORY.
 */
#ifndef ISOSCOPE_INLINE_CHAINS_H
#define ISOSCOPE_INLINE_CHAINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct inline_chains;

enum {
    INLINE_CHAIN_MAX = 64, /* frames; LINES_FRAMES_MAX */
    INLINE_CHAINS_BYTES_DEFAULT = 64 * 1024 * 1024,
};

struct chain_frame {
    uint32_t function;  /* functions.h; 0: nothing names it */
    uint32_t line : 30; /* 0: not known */
    uint32_t inlined : 1;
    uint32_t more : 1; /* what this one is inlined into follows. Set by inline_chains_put */
    const char *file;  /* of the line, where it is not the function's own; else NULL */
};

int inline_chains_new(struct inline_chains **out, size_t bytes_max);
void inline_chains_free(struct inline_chains *chains); /* NULL is fine */

/* Innermost first; returns how many. 0: not known yet. *asked: somebody has asked for it. */
uint32_t inline_chains_find(struct inline_chains *chains, uint64_t frame,
                            struct chain_frame out[INLINE_CHAIN_MAX], bool *asked);
/* It has been asked for: inline_chains_find says so, once its caller has to know. */
int inline_chains_mark_asked(struct inline_chains *chains, uint64_t frame);
/* count: 1 to INLINE_CHAIN_MAX. */
int inline_chains_put(struct inline_chains *chains, uint64_t frame,
                      const struct chain_frame *frames, uint32_t count);
/* A window has been shown: now old ones may go. Not before, or a window larger than the bound
 * would never come together. */
void inline_chains_settle(struct inline_chains *chains);
size_t inline_chains_bytes(struct inline_chains *chains);

#endif
