/*
 * ruby_code.h - what a control frame runs, by name, file and line, as it is told to the feed.
 *
 *   ruby.c -> ruby_put_code, ruby_put_cfunc -> code_cache.h, else the texts -> a frame
 *
 * Names are those that Ruby itself has given from 3.4 on: "Shape#area", "Shape.make", "block in Shape#area"; what
 * no named class owns is "area", "<main>", "<class:Shape>". An iseq is known by what it consists of, and by
 * the method that it runs as.
 *
 * Signals    SIGNAL_SAFE.
 * Errors     What is none, or cannot be read, has no frame.
 */
#ifndef ISOSCOPE_RUBY_CODE_H
#define ISOSCOPE_RUBY_CODE_H

#include "ruby.h"

struct ruby_code {
    uint64_t iseq;
    uint64_t owner;    /* of the method that it is run as; 0: none */
    uint64_t pc;       /* behind the instruction that calls; 0: it has not begun */
    uint64_t newer_pc; /* to be believed where it lies in this code; 0: not known */
};

/* The iseq's first instruction is the next one. */
SIGNAL_SAFE bool ruby_is_at_start(struct runtime_scan *scan, const uint64_t *words, uint64_t iseq,
                                  uint64_t pc);
SIGNAL_SAFE void ruby_put_code(struct runtime_scan *scan, uint32_t entry,
                               const struct ruby_code *code);
SIGNAL_SAFE void ruby_put_cfunc(struct runtime_scan *scan, uint32_t entry, uint64_t method);

#endif
