/*
 * elf_file.h - what a profile wants from one ELF file: who it is, and where its functions start.
 *
 * Units      Addresses are ELF virtual ones, as in the file.
 * Ownership  Texts that are handed out live until elf_file_close.
 * Threads    One at a time.
 * Errors     A file may be missing, cut off, foreign or a lie: elf_file_open then gives a reason,
 * and what cannot be read later is passed over.
 */
#ifndef ISOSCOPE_ELF_FILE_H
#define ISOSCOPE_ELF_FILE_H

#include "../../feed/layout.h"

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

struct elf_file;

struct elf_function {
    const char *name;
    uint64_t start;
    uint64_t size;  /* 0: the file does not say */
    uint64_t limit; /* the section's end: no function goes further */
    bool global, weak;
    bool label; /* an untyped symbol in code: a hand-written function, or less */
};

/* "[vdso]" is the one of this process. NULL: *reason tells why, in static memory. */
struct elf_file *elf_file_open(const char *path, const char **reason);
void elf_file_close(struct elf_file *file); /* NULL is fine */
void elf_file_closep(struct elf_file **file);

/* Returns its bytes, FEED_BUILD_ID_MAX at most; 0: there is none. */
uint32_t elf_file_build_id(struct elf_file *file, uint8_t out[FEED_BUILD_ID_MAX]);
/* The name in .gnu_debuglink; NULL: there is none. */
const char *elf_file_debuglink(struct elf_file *file);
/* The bytes of a section and its address; NULL: there is none, or it cannot be read. */
const uint8_t *elf_file_section(struct elf_file *file, const char *name, uint64_t *size,
                                uint64_t *address);
/* It has the full symbol table, not only what other modules may call. */
bool elf_file_has_symtab(struct elf_file *file);
/* It has DWARF: lines and inlined functions. */
bool elf_file_has_dwarf(struct elf_file *file);
/* For libdw, as long as the file is open. */
Elf *elf_file_elf(struct elf_file *file);
/* Calls each for each function of all symbol tables; ends early when each says false. */
void elf_file_functions(struct elf_file *file,
                        bool (*each)(void *context, const struct elf_function *function),
                        void *context);

#endif
