/*
 * code_chain.h - a frame of a runtime's function into that function and the line.
 *
 *   FRAME_KEY(script module, CODE_OFFSET) -> codes.h, code_lines.h -> functions
 *
 * Nothing is read from files, so whoever wants to know may ask at once. Code objects that say the same
 * of name, file and first line are one function: one that is made anew in each call, and both halves of
 * one that an edit in between gave another line table.
 *
 * Threads    Any.
 */
#ifndef ISOSCOPE_CODE_CHAIN_H
#define ISOSCOPE_CODE_CHAIN_H

#include "codes.h"
#include "functions.h"
#include "inline_chains.h"
#include "registry.h"

/* Innermost first; returns how many. 0: there is no such code, or no room for its function. offset:
 * CODE_OFFSET. */
uint32_t code_chain(const struct codes *codes, struct functions *functions,
                    const struct module *module, uint64_t offset,
                    struct chain_frame out[INLINE_CHAIN_MAX]);

#endif
