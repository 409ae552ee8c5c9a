/*
 * symbols.h - the function names of one module.
 *
 *   elf_file (the module, its debug file) -> symbols: disjoint ranges of addresses -> snapshot
 *
 * Every address has at most one name. Where symbols overlap the innermost one wins, and one with
 * a size over one without, which only fills a gap: up to the next symbol or its section's end.
 * Of several at one address the same one is always taken: sized, not weak, global, few leading
 * underscores.
 *
 * Units      offset: an ELF virtual address of the module.
 * Ownership  Names live as long as the symbols.
 * Threads    symbols_find: any, at the same time.
 * Errors     symbols_read: 0 or -ISOSCOPE_NO_MEMORY. A module that cannot be read has no names and
 *            a reason.
 */
#ifndef ISOSCOPE_SYMBOLS_H
#define ISOSCOPE_SYMBOLS_H

#include "files/elf_file.h"
#include "files/module_file.h"
#include "names/ranges.h"

#include <stdbool.h>
#include <stdint.h>

struct symbols;

struct symbol {
    uint64_t start;
    uint64_t size;         /* 0: not known */
    const char *raw_name;  /* NULL: a function without a name, known by the unwind data */
    const char *name;      /* as a person says it: demangled, without parameters */
    const char *full_name; /* with parameters; = name where there are none */
};

int symbols_read(struct symbols **out, const struct module_file *module);
void symbols_free(struct symbols *symbols); /* NULL is fine */

/* False: no function is known there. */
bool symbols_find(struct symbols *symbols, uint64_t offset, struct symbol *out);
/* Where the code of the function at the offset lies: from its start on, then what the compiler moved
 * away from it. Returns how many parts; fills at most max. 0: no function is known there. */
uint32_t symbols_parts(const struct symbols *symbols, uint64_t offset, struct code_part *out,
                       uint32_t max);
/* The module's code, as its own file says it; NULL: that cannot be read. */
const struct elf_segment *symbols_code(const struct symbols *symbols);
/* Why there are none; NULL when there are. Static memory. */
const char *symbols_reason(const struct symbols *symbols);

#endif
