/*
 * names.h - the words programs made up themselves, once each: tags, a JIT's and an interpreter's
 * functions.
 *
 *   drain (feed's place -> number) -> names -> snapshot (number -> text)
 *
 * Ownership  A name lives as long as the table. What programs may add is bounded: NAMES_MAX,
 *            NAMES_BYTES_MAX.
 * Threads    names_number: one thread at a time. names_text: any, also meanwhile, for numbers that
 *            were handed to it.
 * Errors     names_new: 0 or -ISOSCOPE_NO_MEMORY.
 */
#ifndef ISOSCOPE_NAMES_H
#define ISOSCOPE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

struct names;

enum { NAMES_MAX = 1 << 20, NAMES_BYTES_MAX = 64 << 20 };

int names_new(struct names **out);
void names_free(struct names *names); /* NULL is fine */

/* 0: there is no room for it. */
uint32_t names_number(struct names *names, const char *name);
/* Under the number that it had in another table: what has none below is NULL. False: the number is
 * taken or beyond NAMES_MAX, or there is no room. */
bool names_put(struct names *names, uint32_t number, const char *name);
/* Numbers [1, names_end) may have been given. */
uint32_t names_end(const struct names *names);
/* NULL for 0, and for a number that was never given. */
const char *names_text(const struct names *names, uint32_t number);

#endif
