/*
 * cursor.h - reads numbers and texts from bytes that may lie, and never beyond their end.
 *
 * What does not fit gives 0 or "" and sets failed, once for all; so it is enough to look at the
 * end of what belongs together.
 */
#ifndef ISOSCOPE_CURSOR_H
#define ISOSCOPE_CURSOR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct bytes {
    const uint8_t *at;
    uint64_t count;
};

struct cursor {
    const uint8_t *at, *end;
    bool failed;
};

/* From a place in the bytes on; one that is beyond them, or in none, has failed already. */
static inline struct cursor cursor_of(struct bytes bytes, uint64_t place)
{
    if (!bytes.at || place > bytes.count)
        return (struct cursor){ .failed = true };
    return (struct cursor){ .at = bytes.at + place, .end = bytes.at + bytes.count };
}

static inline uint64_t cursor_left(const struct cursor *cursor)
{
    return (uint64_t)(cursor->end - cursor->at);
}

static inline void cursor_fail(struct cursor *cursor)
{
    cursor->at = cursor->end;
    cursor->failed = true;
}

static inline void cursor_skip(struct cursor *cursor, uint64_t bytes)
{
    if (bytes > cursor_left(cursor))
        cursor_fail(cursor);
    else if (bytes) /* at is NULL where there is none */
        cursor->at += bytes;
}

/* bytes: 8 at most; little-endian, as all machines we run on. */
static inline uint64_t cursor_number(struct cursor *cursor, uint32_t bytes)
{
    uint64_t number = 0;

    if (bytes > cursor_left(cursor)) {
        cursor_fail(cursor);
        return 0;
    }
    memcpy(&number, cursor->at, bytes);
    cursor->at += bytes;
    return number;
}

static inline uint8_t cursor_u8(struct cursor *cursor)
{
    if (cursor->at == cursor->end) {
        cursor->failed = true;
        return 0;
    }
    return *cursor->at++;
}

static inline uint64_t cursor_uleb(struct cursor *cursor)
{
    uint64_t number = 0;
    uint32_t shift = 0;
    uint8_t byte;

    do {
        byte = cursor_u8(cursor);
        if (shift < 64)
            number |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    return number;
}

static inline int64_t cursor_sleb(struct cursor *cursor)
{
    uint64_t number = 0;
    uint32_t shift = 0;
    uint8_t byte;

    do {
        byte = cursor_u8(cursor);
        if (shift < 64)
            number |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    if (shift < 64 && (byte & 0x40))
        number |= ~(uint64_t)0 << shift;
    return (int64_t)number;
}

static inline const char *cursor_text(struct cursor *cursor)
{
    const uint8_t *text = cursor->at, *end = NULL;

    if (cursor->at < cursor->end)
        end = memchr(text, 0, cursor_left(cursor));
    if (!end) {
        cursor_fail(cursor);
        return "";
    }
    cursor->at = end + 1;
    return (const char *)text;
}

/* A length of DWARF: wide is set when offsets have 8 bytes, not 4. */
static inline uint64_t cursor_length(struct cursor *cursor, bool *wide)
{
    uint64_t length = cursor_number(cursor, 4);

    *wide = length == 0xffffffff;
    return *wide ? cursor_number(cursor, 8) : length;
}

/* What the next bytes are; the cursor goes behind them. */
static inline struct cursor cursor_take(struct cursor *cursor, uint64_t bytes)
{
    struct cursor taken = { .at = cursor->at, .end = cursor->at };

    cursor_skip(cursor, bytes);
    taken.failed = cursor->failed;
    if (!taken.failed)
        taken.end = cursor->at;
    return taken;
}

#endif
