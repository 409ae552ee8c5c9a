/*
 * cold_pieces.h - the parts of a function that lie elsewhere, where no symbol tells.
 *
 *   .eh_frame, the function's code (its jumps) -> cold_pieces -> runtime_file.h
 *
 * A compiler moves what seldom runs away from its function, and gives it an entry of its own in .eh_frame: one
 * that begins in the middle of a frame, which no function's does. The function jumps there, and it jumps
 * back. Nothing is disassembled: bytes that only look like a jump do not lead to such a place.
 *
 * Units      ELF virtual addresses.
 * Threads    Any; no state.
 * Errors     A file without unwind data, or that lies, has none.
 */
#ifndef ISOSCOPE_COLD_PIECES_H
#define ISOSCOPE_COLD_PIECES_H

#include "../symbols/files/elf_file.h"
#include "runtime_file.h"

/* Of the function in whole, whose size may be 0 (not known: then it is completed). Fills at most room. */
uint32_t cold_pieces_find(struct elf_file *file, struct runtime_piece *whole,
                          struct runtime_piece *out, uint32_t room);

/* The largest of the functions that it calls directly, of those with less bytes than below. False: none of those
 * is in the unwind data. */
bool cold_pieces_callee(struct elf_file *file, const struct runtime_piece *whole, uint64_t below,
                        struct runtime_piece *out);

/* The largest stretch between functions that .eh_frame tells of, of which it tells nothing: code that no compiler
 * made for the linker. False: there is none. */
bool code_gap_find(struct elf_file *file, struct runtime_piece *out);

#endif
