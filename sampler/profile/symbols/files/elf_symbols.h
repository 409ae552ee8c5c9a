/*
 * elf_symbols.h - all that a file's symbol tables name: functions, and data.
 *
 * Units      Addresses are ELF virtual ones, as in the file.
 * Ownership  Names are the file's, until elf_file_close.
 * Errors     What cannot be read is passed over.
 */
#ifndef ISOSCOPE_ELF_SYMBOLS_H
#define ISOSCOPE_ELF_SYMBOLS_H

#include "elf_file.h"

struct elf_symbol {
    const char *name;
    size_t name_bytes; /* without its end, and without a version ("@GLIBC_2.34") */
    uint64_t value;    /* its address; of thread-local data, its place in that */
    uint64_t size;     /* 0: the file does not say */
    bool code;
};

/* Calls each for each symbol that is defined in the file; ends early when each says false. exported: only of
 * those that other modules may use. */
void elf_symbols(struct elf_file *file, bool exported,
                 bool (*each)(void *context, const struct elf_symbol *symbol), void *context);

#endif
