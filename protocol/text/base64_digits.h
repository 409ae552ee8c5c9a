/*
 * base64_digits.h - three bytes as four digits.
 *
 *   base64.h: into growing text; base64_text: into memory of a known size
 *
 * Source     RFC 4648, 4 and 5
 */
#ifndef ISOSCOPE_BASE64_DIGITS_H
#define ISOSCOPE_BASE64_DIGITS_H

#include <stddef.h>
#include <stdint.h>

#define BASE64_ALPHABET_ "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
#define BASE64_PLAIN     BASE64_ALPHABET_ "+/"
#define BASE64_URL       BASE64_ALPHABET_ "-_" /* what may stand in a URL */

/* With the 0 at the end. */
#define BASE64_TEXT_BYTES(bytes) (((bytes) + 2) / 3 * 4 + 1)

/* bytes: how many of them there are; three, or the last one or two, which are padded. */
static inline void base64_four(char out[4], const void *from, size_t bytes, const char *digits)
{
    const uint8_t *at = from;
    uint32_t three = (uint32_t)at[0] << 16;

    three |= bytes > 1 ? (uint32_t)at[1] << 8 : 0;
    three |= bytes > 2 ? at[2] : 0;
    out[0] = digits[three >> 18];
    out[1] = digits[three >> 12 & 63];
    out[2] = bytes > 1 ? digits[three >> 6 & 63] : '=';
    out[3] = bytes > 2 ? digits[three & 63] : '=';
}

/* out: BASE64_TEXT_BYTES of them. */
static inline void base64_text(char *out, const uint8_t *from, size_t bytes, const char *digits)
{
    for (size_t i = 0; i < bytes; i += 3, out += 4)
        base64_four(out, from + i, bytes - i, digits);
    *out = '\0';
}

#endif
