/*
 * go_frames.h - the call frame information of a Go program's own code.
 *
 *   .debug_frame, symbols (the file) -> go_frames -> table_build.h
 *
 * Go writes no .eh_frame for its code, also where cgo brings that of C along. What it writes for
 * debuggers is exact, but for two things. It leaves out where the frame pointer is saved. And some
 * functions of its runtime go to another stack, and say so only by their frame pointer.
 *
 * Ownership  go_frames_free frees what go_frames_read gave.
 * Errors     GO_STRIPPED: of its debug information (-ldflags=-s, or -w), or there is no memory.
 */
#ifndef ISOSCOPE_GO_FRAMES_H
#define ISOSCOPE_GO_FRAMES_H

#include "../symbols/files/elf_file.h"
#include "table_build.h"

enum go_found { GO_NONE, GO_READ, GO_STRIPPED };

/* NONE: it is no Go program, or not for a processor whose rules are known. */
enum go_found go_frames_read(struct go_frames *out, struct elf_file *file);
void go_frames_free(struct go_frames *frames);

#endif
