/*
 * dwarf_file.h - the DWARF of one module: libdw's view of it, and the sections' bytes for our own.
 *
 *   module_file -> the module's own file or its debug file -> Dwarf, bytes -> units, lines
 *
 * libdw opens and decompresses the sections, and follows what is rare and intricate: references
 * between units and files, forms by index, range lists. Walking DIEs and line programs, which all
 * of a unit pays for, is ours.
 *
 * Ownership  The user's struct; dwarf_file_close ends it. Texts in the sections live until then.
 * Threads    One at a time (libdw's).
 * Errors     dwarf_file_open: false, and the reason, in static memory.
 */
#ifndef ISOSCOPE_DWARF_FILE_H
#define ISOSCOPE_DWARF_FILE_H

#include "cursor.h"
#include "../files/module_file.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>

struct elf_file;

struct dwarf_sections {
    struct bytes info, abbrev, line, line_str, str;
};

struct dwarf_file {
    struct elf_file *elf, *alt; /* alt: what dwz moved out of it; NULL: nothing */
    Dwarf *dwarf, *alt_dwarf;
    struct dwarf_sections sections;
    uint64_t code_start, code_end; /* of the segments that may be executed */
    size_t section_bytes;
};

bool dwarf_file_open(struct dwarf_file *out, const struct module_file *module, const char **reason);
void dwarf_file_close(struct dwarf_file *file);
/* libdw frees nothing that it once read: this does. Dwarf_Dies from before are no more; texts in
 * the sections are. False: out of memory; then there is no DWARF any more. */
bool dwarf_file_reopen(struct dwarf_file *file);

/* split: the sections of a .dwo file. */
void dwarf_sections_read(struct dwarf_sections *out, Dwarf *dwarf, bool split);
/* It lives as long as the file's sections do. */
bool dwarf_file_holds(const struct dwarf_file *file, const char *text);
size_t dwarf_file_bytes(const struct dwarf_file *file); /* of the sections */

#endif
