/*
 * jvm_packed.h - HotSpot's packed numbers, and its line tables that are made of them.
 *
 *   scopes of compiled code (jvm_code.c), line tables (jvm_method.c, for their end) -> numbers
 *
 * A number takes 1 to 5 bytes, the low ones first; bytes below 192 end it. From JDK 20 on no byte of one is 0
 * (excludes is 1): 0 ends a stream.
 *
 * A line table is pairs of differences (bytecode, line): one byte where they are small, else two
 * numbers behind a 0xff; a 0 ends it.
 *
 * Signals    SIGNAL_SAFE. Any bytes are fine: nothing is read behind end.
 * Source     HotSpot's unsigned5.hpp and compressedStream.hpp; CompressedLineNumberReadStream in method.cpp
 */
#ifndef ISOSCOPE_JVM_PACKED_H
#define ISOSCOPE_JVM_PACKED_H

#include "../../../feed/signal_safe.h"

#include <stdbool.h>
#include <stdint.h>

struct jvm_packed {
    const uint8_t *at, *end;
    uint32_t excludes;
};

enum { JVM_PACKED_BYTES_MAX = 5, JVM_PACKED_LAST = 192, JVM_PACKED_BITS = 6 };

SIGNAL_SAFE_INLINE bool jvm_packed_next(struct jvm_packed *packed, uint32_t *out)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i < JVM_PACKED_BYTES_MAX && packed->at < packed->end; i++) {
        uint32_t byte = *packed->at++;

        if (byte < packed->excludes)
            return false;
        sum += (byte - packed->excludes) << JVM_PACKED_BITS * i;
        if (byte < JVM_PACKED_LAST || i == JVM_PACKED_BYTES_MAX - 1) {
            *out = sum;
            return true;
        }
    }
    return false;
}

SIGNAL_SAFE_INLINE bool jvm_packed_signed(struct jvm_packed *packed, int32_t *out)
{
    uint32_t number;

    if (!jvm_packed_next(packed, &number))
        return false;
    *out = (int32_t)(number >> 1) ^ -(int32_t)(number & 1);
    return true;
}

enum { JVM_LINES_ESCAPE = 0xff, JVM_LINES_BCI_SHIFT = 3, JVM_LINES_LINE_MASK = 7 };

/* The next pair; both are added to. False: the end. */
SIGNAL_SAFE_INLINE bool jvm_lines_next(struct jvm_packed *packed, int64_t *bci, int64_t *line)
{
    int32_t bci_more, line_more;
    uint8_t byte;

    if (packed->at >= packed->end)
        return false;
    byte = *packed->at++;
    if (!byte)
        return false;
    if (byte != JVM_LINES_ESCAPE) {
        *bci += byte >> JVM_LINES_BCI_SHIFT;
        *line += byte & JVM_LINES_LINE_MASK;
        return true;
    }
    if (!jvm_packed_signed(packed, &bci_more) || !jvm_packed_signed(packed, &line_more))
        return false;
    *bci += bci_more;
    *line += line_more;
    return true;
}

#endif
