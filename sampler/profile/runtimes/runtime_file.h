/*
 * runtime_file.h - what finders ask of a module's file: where symbols are, and functions' pieces.
 *
 *   finder.h -> runtime_file_symbol, runtime_file_pieces -> ELF virtual addresses
 *
 * By .dynsym, and by .symtab where the file (or its separate debug file, or .gnu_debugdata) has one.
 * Symbols are read when the first one is asked for.
 *
 * Ownership  Whoever opens it (finder.h: one for each build) closes it.
 * Threads    One at a time.
 * Errors     What the file does not tell, or lies about, is not there.
 */
#ifndef ISOSCOPE_RUNTIME_FILE_H
#define ISOSCOPE_RUNTIME_FILE_H

#include "../symbols/files/module_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct runtime_file;

/* NULL: it cannot be read, or there is no memory. */
struct runtime_file *runtime_file_open(const struct module_file *module);
void runtime_file_close(struct runtime_file *file); /* NULL is fine */

/* By what the file exports alone: no separate file is looked for. */
bool runtime_file_exports(struct runtime_file *file, const char *name);

/* False: no such symbol. size: NULL is fine. Of thread-local data, vaddr is the place in that. */
bool runtime_file_symbol(struct runtime_file *file, const char *name, uint64_t *vaddr,
                         uint64_t *size);

struct runtime_piece {
    uint64_t start, end; /* ELF virtual addresses */
};

/* The function's code: where its symbol is, and what the compiler put elsewhere (a ".cold" symbol; else the
 * pieces of .eh_frame that its code jumps to and that no other function's symbol names). Returns how
 * many, at most room. */
uint32_t runtime_file_pieces(struct runtime_file *file, const char *name, struct runtime_piece *out,
                             uint32_t room);

/* The same of a function that has no name: the largest of those that the named one calls directly. */
uint32_t runtime_file_callee(struct runtime_file *file, const char *name, struct runtime_piece *out,
                             uint32_t room);
/* The same of a caller that has no name either. below: with less bytes than that. */
uint32_t runtime_file_callee_of(struct runtime_file *file, const struct runtime_piece *caller,
                                uint64_t below, struct runtime_piece *out, uint32_t room);

/* The largest stretch of code that the unwind data tells nothing of. False: there is none. */
bool runtime_file_gap(struct runtime_file *file, struct runtime_piece *out);

/* The first text among its constants that begins so: out is filled up to the text's end, bytes - 1 at
 * most. False: there is none. */
bool runtime_file_text(struct runtime_file *file, const char *beginning, char *out, size_t bytes);

/* Bytes of the file's own image at a virtual address, as it was linked: constants. */
bool runtime_file_bytes(struct runtime_file *file, uint64_t vaddr, void *out, uint64_t bytes);

#endif
