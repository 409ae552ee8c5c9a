/*
 * runtime_file.h - what finders ask of a module's file: where symbols are, and functions' pieces.
 *
 *   finder.h -> runtime_file_symbol, runtime_file_pieces -> ELF virtual addresses
 *
 * By .dynsym, and by .symtab where the file (or its separate debug file) has one.
 *
 * Ownership  The cache owns files, by build id or path.
 * Threads    One at a time.
 */
#ifndef ISOSCOPE_RUNTIME_FILE_H
#define ISOSCOPE_RUNTIME_FILE_H

#include <stdbool.h>
#include <stdint.h>

struct runtime_file;

/* False: no such symbol. size: NULL is fine. */
bool runtime_file_symbol(struct runtime_file *file, const char *name, uint64_t *vaddr,
                         uint64_t *size);

struct runtime_piece {
    uint64_t start, end; /* ELF virtual addresses */
};

/* The function's code: where its symbol is, and what the compiler put elsewhere (a ".cold" symbol; else the
 * pieces of .eh_frame that its code jumps to and that no other function's symbol names). Returns how
 * many, at most room. */
uint32_t runtime_file_pieces(struct runtime_file *file, const char *name,
                             struct runtime_piece *out, uint32_t room);

/* Bytes of the file's own image at a virtual address, as it was linked: constants. */
bool runtime_file_bytes(struct runtime_file *file, uint64_t vaddr, void *out, uint64_t bytes);

#endif
