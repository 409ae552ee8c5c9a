/*
 * codes.h - functions' machine code, with its ticks, as Dart's clients know it.
 *
 * Threads    Any.
 */
#ifndef ISOSCOPE_CODES_H
#define ISOSCOPE_CODES_H

#include "../text/json_writer.h"
#include "../../sampler/profile/snapshot.h"

/* "Native" or "Stub". Never "Dart": of such code Observatory wants what only a compiler's has. */
const char *code_kind(const struct snapshot_function *function);
/* The same, or "Dart" of one that an interpreter runs. */
const char *function_kind(const struct snapshot_function *function);
/* ,"inclusiveTicks":...,"exclusiveTicks":... */
void code_ticks_json(struct json_text *text, uint64_t inclusive, uint64_t exclusive);

void code_json(struct json_text *text, const struct snapshot_function *function, uint64_t inclusive,
               uint64_t exclusive);
/* A tag among the codes; number: its place there. */
void code_tag_json(struct json_text *text, const char *name, uint32_t number, uint64_t inclusive);

#endif
