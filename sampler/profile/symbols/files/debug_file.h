/*
 * debug_file.h - where a distribution keeps what it stripped from a module.
 *
 * The places are the ones every debugger looks at: /usr/lib/debug/.build-id, and the name in
 * .gnu_debuglink beside the module, in .debug beside it, and under /usr/lib/debug; in the root
 * directory of the module's process first, then in ours; then a symbol server, where one may be
 * asked. A file counts only when its build id is the module's, or, where that has none, when its
 * checksum is the link's.
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
