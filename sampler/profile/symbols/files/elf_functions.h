/*
 * elf_functions.h - the functions of a file's symbol tables, and its variables: a lock is one.
 *
 * Units      Addresses are ELF virtual ones, as in the file.
 * Ownership  Names are the file's, until elf_file_close.
 * Errors     What cannot be read is passed over.
 */
#ifndef ISOSCOPE_ELF_FUNCTIONS_H
#define ISOSCOPE_ELF_FUNCTIONS_H

#include "elf_file.h"

struct elf_function {
    const char *name;
    size_t name_bytes; /* without its end */
    uint64_t start;
    uint64_t size;  /* 0: the file does not say */
    uint64_t limit; /* the section's end: no function goes further */
    bool global, weak;
    bool label;    /* an untyped symbol in code: a hand-written function, or less */
    bool variable; /* not code, but what can be written */
    bool resolver; /* of an ifunc: its code only chooses the function of that name */
    uint32_t file; /* a local one's source file, by its order in the table; 0: not known */
};

/* Calls each for each of all symbol tables; ends early when each says false. */
void elf_functions(struct elf_file *file,
                   bool (*each)(void *context, const struct elf_function *function), void *context);

#endif
