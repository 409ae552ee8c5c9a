/*
 * plt.h - the stubs by which a module calls functions of others, each a function "name@plt".
 *
 *   elf_file (stub sections, relocations, dynamic symbols) -> plt -> ranges
 *
 * No symbol table names them. A stub jumps through a slot of memory; the relocation of that slot
 * says whose address the loader puts there.
 *
 * Errors     0 or -ISOSCOPE_NO_MEMORY. What is cut off or makes no sense is passed over.
 */
#ifndef ISOSCOPE_PLT_H
#define ISOSCOPE_PLT_H

#include "../files/elf_file.h"
#include "ranges.h"

/* ranges: with the file's symbols, not built yet. They name stubs to functions of its own. */
int plt_add(struct ranges *ranges, struct elf_file *file);

#endif
