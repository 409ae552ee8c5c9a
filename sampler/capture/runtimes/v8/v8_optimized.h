/*
 * v8_optimized.h - optimized code: one function's, and what was inlined into it.
 *
 *   v8.c -> v8_optimized_id -> id of a code whose table is FEED_LINES_V8_OPTIMIZED
 *
 * Of each instruction V8 keeps the place in a script, and by which calls it was inlined. It is all told at once,
 * with the code that is new: the functions' texts, the calls, and V8's table as it is. So a sample of it costs
 * no more than another, and the service says which functions a position stands for.
 *
 * The table, of words of 32 bits in the machine's order: UTF-16 units of the script; how many functions
 * were inlined, how many calls; for each function bytes of name, of file, place of its beginning + 1,
 * units of its script, then name and file, up to a multiple of 4; for each call V8's source position (two words),
 * function; then V8's table.
 *
 * Signals    SIGNAL_SAFE.
 */
#ifndef ISOSCOPE_V8_OPTIMIZED_H
#define ISOSCOPE_V8_OPTIMIZED_H

#include "v8_code.h"
#include "v8_machine.h"

/* shared: the function that it is of. False: V8 kept nothing, or it changes just now. */
SIGNAL_SAFE bool v8_optimized_id(const struct v8_walk *walk, const struct v8_machine *machine,
                                 const struct v8_shared *shared, uint32_t *out);

#endif
