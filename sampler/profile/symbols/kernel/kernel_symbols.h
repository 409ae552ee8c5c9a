/*
 * kernel_symbols.h - the functions of the kernel, or of a module of its, as those of a file.
 *
 *   /proc/kallsyms -> kernel_symbols -> symbols
 *
 * Units      Addresses are offsets in the library: from where kernel_places.h has its begin.
 * Ownership  Names are lent for the call.
 * Threads    Any.
 * Errors     false, and *reason says why there are none, in static memory.
 */
#ifndef ISOSCOPE_KERNEL_SYMBOLS_H
#define ISOSCOPE_KERNEL_SYMBOLS_H

#include "../files/elf_functions.h"
#include "../files/module_file.h"
#include "kernel_places.h"

/* Of the library as it is now; another build's is refused. Ends early when each says false. */
bool kernel_symbols(const struct module_file *library,
                    bool (*each)(void *context, const struct elf_function *function), void *context,
                    const char **reason);
/* The same of a text as /proc/kallsyms has it. */
void kernel_symbols_in(FILE *kallsyms, const struct kernel_place *place,
                       bool (*each)(void *context, const struct elf_function *function),
                       void *context);

#endif
