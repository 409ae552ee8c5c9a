/*
 * instructions.h - the instructions of a module, out of its file.
 *
 *   module_file (the build that ran), parts of a function -> instructions -> decoder.h
 *
 * Threads    One at a time.
 * Errors     The file may be gone, replaced, or lie: instructions_open gives NULL and a reason, in
 *            static memory.
 */
#ifndef ISOSCOPE_INSTRUCTIONS_H
#define ISOSCOPE_INSTRUCTIONS_H

#include "decoder.h"
#include "files/module_file.h"
#include "names/ranges.h"

struct instructions;

enum { INSTRUCTIONS_READ_MAX = 64 * 1024 + INSTRUCTION_BYTES_MAX }; /* bytes of a part */

struct instructions *instructions_open(const struct module_file *module, const char **reason);
void instructions_close(struct instructions *instructions); /* NULL is fine */
void instructions_closep(struct instructions **instructions);

/* To the part's beginning. False: the file has no code there. */
bool instructions_seek(struct instructions *instructions, struct code_part part);
/* False: what was read of the part is over. */
bool instructions_next(struct instructions *instructions, struct instruction *out);

#endif
