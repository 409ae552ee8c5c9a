/*
 * resolve.h - an address of a module into functions and lines.
 *
 *   symbols (fast), lines (inlined frames, slow to open) -> resolve -> functions
 *
 * Threads    resolve_symbol: any. resolve_chain: the one that owns lines.
 */
#ifndef ISOSCOPE_RESOLVE_H
#define ISOSCOPE_RESOLVE_H

#include "inline_chains.h"
#include "functions.h"
#include "registry.h"
#include "../symbols/lines.h"

/* The number of the function there, by the module's symbols alone; 0: nothing names it. */
uint32_t resolve_symbol(struct functions *functions, const struct module *module, uint64_t offset);

/* All that is known: innermost first, at least one frame. lines may be NULL. */
uint32_t resolve_chain(struct functions *functions, const struct module *module,
                       struct lines *lines, uint64_t offset,
                       struct chain_frame out[INLINE_CHAIN_MAX]);

#endif
