/*
 * utf8.h - is this UTF-8, as far as it has come?
 */
#ifndef ISOSCOPE_UTF8_H
#define ISOSCOPE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed, it is between two characters. */
struct utf8 {
    uint8_t missing;   /* bytes of the character that is coming */
    uint8_t low, high; /* what the next one may be, when missing */
};

/* False at the first byte that makes it none. */
bool utf8_take(struct utf8 *state, const uint8_t *bytes, size_t size);
/* No character is cut off. */
bool utf8_whole(const struct utf8 *state);

#endif
