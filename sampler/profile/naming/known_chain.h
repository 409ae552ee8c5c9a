/*
 * known_chain.h - what is known of a frame by now, wherever it is known from: its kind of module, a
 * session, its module's symbols, or chains that the symbol worker made.
 *
 *   snapshot, session writer -> known_chain -> (not known: symbolizer_want_frames)
 *
 * Threads    Any.
 */
#ifndef ISOSCOPE_KNOWN_CHAIN_H
#define ISOSCOPE_KNOWN_CHAIN_H

#include "functions.h"
#include "inline_chains.h"
#include "registry.h"

struct known_chains {
    struct registry *registry;
    struct functions *functions;
    struct inline_chains *chains; /* of the symbol worker */
    struct inline_chains *saved;  /* out of a session; NULL: there is none */
    bool nameless;                /* nobody names what has no name yet */
};

/* Innermost first; returns how many. 0: it is not known yet; asked: somebody has asked for it. */
uint32_t known_chain(const struct known_chains *known, uint64_t frame,
                     struct chain_frame out[INLINE_CHAIN_MAX], bool *asked);
/* What its module's symbols alone say, if they are read: one frame. */
uint32_t known_symbol(const struct known_chains *known, uint64_t frame, struct chain_frame *out);

#endif
