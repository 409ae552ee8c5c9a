/*
 * debug_file.h - where a distribution keeps the symbol table it stripped from a module.
 *
 * The places are the ones every debugger looks at: /usr/lib/debug/.build-id, and the name in
 * .gnu_debuglink beside the module, in .debug beside it, and under /usr/lib/debug. A file counts
 * only when its build id is the module's.
 */
#ifndef ISOSCOPE_DEBUG_FILE_H
#define ISOSCOPE_DEBUG_FILE_H

#include "elf_file.h"
#include "module_file.h"

/* file: the module's own, for its link; NULL when it is gone. NULL: there is none. */
struct elf_file *debug_file_open(const struct module_file *module, struct elf_file *file);

#endif
