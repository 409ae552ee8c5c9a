/*
 * cfi_cursor.h - takes numbers off a run of bytes that may end, or lie, anywhere.
 *
 * Signals    For the tick handler too: no memory but the bytes.
 * Source     DWARF 5, 7.6 (LEB128); Linux Standard Base 5.0, 10.5 (pointer encodings).
 */
#ifndef ISOSCOPE_CFI_CURSOR_H
#define ISOSCOPE_CFI_CURSOR_H

#include "../../feed/signal_safe.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Pointer encodings (Linux Standard Base 5.0, 10.5). */
enum {
    PE_ABSPTR = 0x00,
    PE_ULEB128 = 0x01,
    PE_UDATA2 = 0x02,
    PE_UDATA4 = 0x03,
    PE_UDATA8 = 0x04,
    PE_SLEB128 = 0x09,
    PE_SDATA2 = 0x0a,
    PE_SDATA4 = 0x0b,
    PE_SDATA8 = 0x0c,
    PE_PCREL = 0x10,
    PE_DATAREL = 0x30,
    PE_OMIT = 0xff,
};

/* Reads from [at, end); past the end it stays there and gives zeros, and bad is set. */
struct cfi_cursor {
    const uint8_t *at, *end;
    bool bad;
};

SIGNAL_SAFE_INLINE uint64_t take_bytes(struct cfi_cursor *cursor, unsigned bytes)
{
    uint64_t value = 0;

    if ((uint64_t)(cursor->end - cursor->at) < bytes) {
        cursor->bad = true;
        cursor->at = cursor->end;
        return 0;
    }
    memcpy(&value, cursor->at, bytes);
    cursor->at += bytes;
    return value;
}

SIGNAL_SAFE_INLINE uint64_t take_uleb(struct cfi_cursor *cursor)
{
    uint64_t value = 0;

    for (unsigned shift = 0;; shift += 7) {
        uint8_t byte = (uint8_t)take_bytes(cursor, 1);

        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
}

SIGNAL_SAFE_INLINE int64_t take_sleb(struct cfi_cursor *cursor)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;

    do {
        byte = (uint8_t)take_bytes(cursor, 1);
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    if (shift < 64 && (byte & 0x40))
        value |= ~UINT64_C(0) << shift;
    return (int64_t)value;
}

SIGNAL_SAFE_INLINE uint64_t take_value(struct cfi_cursor *cursor, uint8_t format)
{
    switch (format) {
    case PE_ULEB128:
        return take_uleb(cursor);
    case PE_SLEB128:
        return (uint64_t)take_sleb(cursor);
    case PE_UDATA2:
        return take_bytes(cursor, 2);
    case PE_SDATA2:
        return (uint64_t)(int16_t)take_bytes(cursor, 2);
    case PE_UDATA4:
        return take_bytes(cursor, 4);
    case PE_SDATA4:
        return (uint64_t)(int32_t)take_bytes(cursor, 4);
    case PE_ABSPTR:
    case PE_UDATA8:
    case PE_SDATA8:
        return take_bytes(cursor, 8);
    default:
        cursor->bad = true;
        return 0;
    }
}

/* vaddr_here: of the cursor's place; data_base: what PE_DATAREL is relative to. */
SIGNAL_SAFE_INLINE uint64_t take_pointer(struct cfi_cursor *cursor, uint8_t encoding,
                                         uint64_t vaddr_here, uint64_t data_base)
{
    uint64_t value = take_value(cursor, encoding & 0x0f);

    switch (encoding & 0x70) {
    case 0:
        return value;
    case PE_PCREL:
        return value + vaddr_here;
    case PE_DATAREL:
        return value + data_base;
    default:
        cursor->bad = true;
        return 0;
    }
}

SIGNAL_SAFE_INLINE void skip(struct cfi_cursor *cursor, uint64_t bytes)
{
    if ((uint64_t)(cursor->end - cursor->at) < bytes) {
        cursor->bad = true;
        cursor->at = cursor->end;
        return;
    }
    cursor->at += bytes;
}

#endif
