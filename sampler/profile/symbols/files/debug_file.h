/*
 * debug_file.h - where a distribution keeps what it stripped from a module.
 *
 * Debuggers look at the same places: /usr/lib/debug/.build-id, and the name in .gnu_debuglink
 * beside the module, in .debug beside it, and under /usr/lib/debug. The root directory of the
 * module's process comes first, then ours, then a symbol server where one may be asked. A file
 * counts only when its build id is the module's. Where the module has none, the file's checksum
 * must be the link's.
 */
#ifndef ISOSCOPE_DEBUG_FILE_H
#define ISOSCOPE_DEBUG_FILE_H

#include "elf_file.h"
#include "module_file.h"

/* file: the module's own, for its link; NULL when it is gone. NULL: there is none. */
struct elf_file *debug_file_open(const struct module_file *module, struct elf_file *file);

/* The file that holds what dwz moved out of several debug files, found by .gnu_debugaltlink of one
 * (debug) with DWARF: the module's own or its debug file. NULL: it has no link, or the file that it
 * means is not there. */
struct elf_file *debug_file_alt(const struct module_file *module, struct elf_file *debug);
bool debug_file_has_altlink(struct elf_file *debug);

#endif
