/*
 * ruby_lines.h - an iseq's own table of lines, as pairs.
 *
 * Ruby keeps a line for each instruction, and a bit vector of where instructions begin: 54 bits as counts, seven
 * bits each, and behind them blocks of 512 bits with the count of those before.
 *
 * Signals    SIGNAL_SAFE.
 * Errors     Returns 0: it cannot be read, or is longer than a table may be.
 * Source     CRuby's iseq.c: succ_index_table
 */
#ifndef ISOSCOPE_RUBY_LINES_H
#define ISOSCOPE_RUBY_LINES_H

#include "ruby.h"

/* Fills scan->texts->table. Returns its bytes. words_of_code: positions. */
SIGNAL_SAFE uint32_t ruby_lines(struct runtime_scan *scan, uint32_t entry, uint64_t body,
                                uint32_t words_of_code);

#endif
