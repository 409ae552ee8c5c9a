/*
 * codes.h - the functions that runtimes ran, in all processes of the profile, each once.
 *
 *   process (a feed's code) -> codes_number -> FRAME_KEY(module of its file, CODE_OFFSET) -> store
 *   symbol worker -> codes_get, code_lines.h -> function, file and line
 *
 * Ownership  The table copies what it is given, for the life of the profile. What codes_get gives points
 *            there; name and file have a 0 behind them, and none inside.
 * Threads    codes_number: one at a time. codes_get: any, also meanwhile, for numbers that
 *            codes_number gave.
 * Errors     codes_new: 0 or -ISOSCOPE_NO_MEMORY. Number 0: no room for another code.
 */
#ifndef ISOSCOPE_CODES_H
#define ISOSCOPE_CODES_H

#include "../../feed/feed_codes.h"

struct codes;

/* In a stored frame, whose module is the registry's for the code's file: number and position. */
#define CODE_OFFSET(number, position) ((uint64_t)(number) << 24 | (uint32_t)(position))
#define CODE_OFFSET_NUMBER(offset)    ((uint32_t)((offset) >> 24) & 0xffffff)
#define CODE_OFFSET_POSITION(offset)  ((uint32_t)(offset)&0xffffff)

enum { CODES_MAX = 1 << 20, CODES_BYTES_MAX = 256 << 20 };

int codes_new(struct codes **out);
void codes_free(struct codes *codes); /* NULL is fine */

uint32_t codes_number(struct codes *codes, const struct feed_code_text *text);
/* False: no code has the number. */
bool codes_get(const struct codes *codes, uint32_t number, struct feed_code_text *out);

#endif
