/*
 * table_source.h - a module's call frame information, wherever it can be reached, as a table.
 *
 *   module_file.h (the file that runs), or else the process's memory -> table_build.h
 *
 * Memory is read where no file can be: a deleted one, a memfd, and the kernel's vdso. That asks for
 * the rights of a debugger.
 *
 * Ownership  The table is the caller's, to be freed with free.
 * Threads    Any; no state.
 * Errors     false: it cannot be read now. NULL in *out: it has no unwind data that makes sense.
 */
#ifndef ISOSCOPE_TABLE_SOURCE_H
#define ISOSCOPE_TABLE_SOURCE_H

#include "../../capture/unwind/unwind_table.h"
#include "../symbols/files/module_file.h"

#include <stdbool.h>

/* stripped_go: it is a Go program, and has no unwind data for its own code. */
bool table_source_build(const struct module_file *module, struct unwind_table **out,
                        bool *stripped_go);

#endif
