/*
 * lines.h - lines of the source and inlined functions of one module, from its DWARF.
 *
 *   elf_file, debug_file (whatever holds .debug_info) -> lines -> frames of one address
 *
 * Opened once a module's lines are asked for; a compilation unit is read when an address in it is,
 * and forgotten when it has not been asked for longest and the limit is reached.
 *
 * Units      offset: an ELF virtual address of the module. line: from 1; 0: not known.
 * Ownership  Texts of a frame live as long as the lines.
 * Threads    One at a time (libdw's).
 * Errors     lines_open: 0 or -ISOSCOPE_NO_MEMORY. A module without debug data, or with nonsense
 *            in it, has no lines and a reason.
 */
#ifndef ISOSCOPE_LINES_H
#define ISOSCOPE_LINES_H

#include "files/module_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lines;

enum { LINES_FRAMES_MAX = 64 }; /* inlined into one another; what lies deeper is left out */

/* A frame as the program's author sees it. */
struct line_frame {
    const char *name;         /* of the function, as in the source; NULL: the symbol knows better */
    const char *linkage_name; /* mangled; NULL: there is none */
    const char *scope;        /* what name is in, where that is all there is; NULL: nothing */
    const char *file;         /* of the line; absolute where DWARF allows; NULL: not known */
    uint32_t line;         /* where the pc is; of an outer frame, where the inner one was called */
    const char *decl_file; /* where the function is defined */
    uint32_t decl_line;
    bool inlined;
};

int lines_open(struct lines **out, const struct module_file *module);
void lines_close(struct lines *lines); /* NULL is fine */

/* How many bytes of what was read of units may be kept, and, beside that, how many libdw may hold;
 * 128 MiB each to begin with. The sections themselves, and texts that were handed out, stay. */
void lines_limit(struct lines *lines, size_t bytes);

/* Innermost first; the last one is the function itself. Returns how many; 0: nothing is known. */
uint32_t lines_find(struct lines *lines, uint64_t offset, struct line_frame out[LINES_FRAMES_MAX]);

/* Memory it holds by now, libdw's estimated. */
size_t lines_bytes(const struct lines *lines);
/* Why there are none; NULL when there are. Static memory. */
const char *lines_reason(const struct lines *lines);

#endif
