/*
 * cpython_code.h - CPython's code objects: known again by what they hold, told of once.
 *
 *   address of a PyCodeObject -> code_cache -> id; new: name, file and line table -> feed_writer_code
 *
 * An address alone is not enough: a program that makes codes, and frees them, uses addresses again. So its
 * first line, its name (and that one's hash), its file and the beginning of its line table belong to the key.
 *
 * Texts      UTF-8; what is longer than a code may have is cut. A name that cannot be read is empty.
 * Signals    SIGNAL_SAFE.
 */
#ifndef ISOSCOPE_CPYTHON_CODE_H
#define ISOSCOPE_CPYTHON_CODE_H

#include "cpython.h"

/* False: there is no code object. *id 0: it is one, and there is no room for it. */
SIGNAL_SAFE bool cpython_code(struct runtime_scan *scan, uint32_t entry, uint64_t code,
                              uint32_t *id);

/* A string, with an end. What is longer is cut. False: it cannot be read. */
SIGNAL_SAFE bool cpython_text(struct runtime_scan *scan, const uint64_t *words, uint64_t string,
                              char *out, uint32_t room);

#endif
