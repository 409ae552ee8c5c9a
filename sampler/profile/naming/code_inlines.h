/*
 * code_inlines.h - a code into which others were inlined: FEED_LINES_INLINED.
 *
 *   intake/v8_lines.c -> struct code_inline_row, struct code_inline -> code_chain.c
 *
 * The table: how many rows (uint32_t), nothing (uint32_t), the rows by ascending position, and behind them the
 * frames that they name, innermost first. It is the service's own: no feed has one.
 */
#ifndef ISOSCOPE_CODE_INLINES_H
#define ISOSCOPE_CODE_INLINES_H

#include <stdint.h>

struct code_inline_row {
    uint32_t position; /* from which on */
    uint32_t first, count;
};

struct code_inline {
    uint64_t frame; /* FRAME_KEY of an inlined function, of position 0; 0: the code itself */
    uint32_t line;
    uint32_t reserved;
};

#endif
