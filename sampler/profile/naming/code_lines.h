/*
 * code_lines.h - line tables of runtimes: a position in a code into a line.
 *
 *   stored frame (code, position) -> codes.h -> code_line -> line
 *
 * Tables come from programs: any bytes are fine, nothing is read outside of them, and it ends.
 *
 * Units      position: as feed_code_lines has it; for all of CPython bytes of bytecode, caches included.
 * Threads    Any.
 * Source     Objects/lnotab_notes.txt, Objects/locations.md and InternalDocs/code_objects.md of CPython;
 *            HotSpot's compressedStream.hpp, unsigned5.hpp and constMethod.hpp; V8's
 *            source-position-table.cc and source-position.h
 */
#ifndef ISOSCOPE_CODE_LINES_H
#define ISOSCOPE_CODE_LINES_H

#include "../../feed/feed_codes.h"

/* 0: not known, or the runtime itself says that there is none. FEED_LINES_V8*: the place in the file instead
 * (characters from its start, + 1). position: FEED_NO_POSITION: the line of a definition in Python, which
 * has none for a frame that has not begun. */
uint32_t code_line(const struct feed_code_text *code, uint32_t position);

#endif
