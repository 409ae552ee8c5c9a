/*
 * perl_code.h - what a context of Perl runs, by name and file, as it is told to the feed.
 *
 * "Shape::area", "main::__ANON__"; code of a file or a text is "require" or "eval", the program "(main program)".
 *
 * Signals    SIGNAL_SAFE.
 * Errors     What is none, or cannot be read, has no frame.
 */
#ifndef ISOSCOPE_PERL_CODE_H
#define ISOSCOPE_PERL_CODE_H

#include "perl.h"

/* statement: what it is at. */
SIGNAL_SAFE void perl_put_sub(struct runtime_scan *scan, uint32_t entry, uint64_t code,
                              uint64_t statement);
SIGNAL_SAFE void perl_put_eval(struct runtime_scan *scan, uint32_t entry, bool required,
                               uint64_t code, uint64_t statement);
SIGNAL_SAFE void perl_put_program(struct runtime_scan *scan, uint32_t entry, uint64_t interpreter,
                                  uint64_t statement);

#endif
