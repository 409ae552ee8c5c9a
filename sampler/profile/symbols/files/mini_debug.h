/*
 * mini_debug.h - .gnu_debugdata: a small symbol table that distributions leave in a stripped file,
 * packed with xz.
 *
 * Ownership  The file it is in may be closed before.
 * Errors     NULL: there is none, it is damaged, or it unpacks to more than a symbol table can be.
 */
#ifndef ISOSCOPE_MINI_DEBUG_H
#define ISOSCOPE_MINI_DEBUG_H

#include "elf_file.h"

struct elf_file *mini_debug_open(struct elf_file *file);

#endif
