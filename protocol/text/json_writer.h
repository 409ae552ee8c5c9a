/*
 * json_writer.h - JSON text, appended piece by piece: what samples are written with.
 *
 * jansson builds a tree first; for samples that costs 20 times the time and 13 times the memory.
 *
 * Ownership  The caller owns a struct json_text; zeroed is empty, json_text_free gives it back.
 * Errors     Out of memory sets failed and drops what is appended from then on: look once, at the
 * end.
 *
 * Whatever bytes go in, valid UTF-8 comes out: a byte that is none becomes U+FFFD.
 */
#ifndef ISOSCOPE_JSON_WRITER_H
#define ISOSCOPE_JSON_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { JSON_NUMBER_MAX = 20 }; /* characters of the longest 64-bit integer, its sign too */

struct json_text {
    char *data; /* not 0-terminated */
    size_t length, capacity;
    bool failed;
};

void json_text_free(struct json_text *text);

/* What json_text_reserve does when there is no room. */
char *json_text_grow(struct json_text *text, size_t more);

/* Room for more bytes behind length; NULL when out of memory. Inline: literals become plain stores.
 */
static inline char *json_text_reserve(struct json_text *text, size_t more)
{
    return text->capacity - text->length >= more ? text->data + text->length
                                                 : json_text_grow(text, more);
}

static inline void json_text_raw(struct json_text *text, const char *bytes, size_t length)
{
    char *at = length ? json_text_reserve(text, length) : NULL;

    if (!at)
        return;
    memcpy(at, bytes, length);
    text->length += length;
}

#define json_text_literal(text, literal) json_text_raw(text, "" literal, sizeof(literal) - 1)
void json_text_uint(struct json_text *text, uint64_t value);
void json_text_int(struct json_text *text, int64_t value);
/* In hundredths at most. */
void json_text_double(struct json_text *text, double value);
/* before: what stands there, ",\"pid\":". */
static inline void json_text_member(struct json_text *text, const char *before, int64_t value)
{
    json_text_raw(text, before, strlen(before));
    json_text_int(text, value);
}
/* In front of each entry of a list. any: whether it has some already; false where it begins. */
static inline void json_text_comma(struct json_text *text, bool *any)
{
    if (*any)
        json_text_literal(text, ",");
    *any = true;
}
/* With its quotes. */
void json_text_string(struct json_text *text, const char *string);
/* The inside of a string: escaped, without quotes. */
void json_text_escaped(struct json_text *text, const char *bytes, size_t length);

/* Bytes of the UTF-8 character at the start of bytes; 0 when it is none. length is at least 1. */
size_t utf8_character(const unsigned char *bytes, size_t length);

#endif
