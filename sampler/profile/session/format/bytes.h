/*
 * bytes.h - bytes that grow at their end: blocks and columns on their way to a file.
 *
 * Numbers are as docs/session_format.md has them: little-endian, or varints (unsigned LEB128; signed
 * ones zigzag).
 *
 * Ownership  The user's struct: all zeros is empty, bytes_free ends it.
 * Errors     Without memory failed is set, and what follows is left out: asked about once, at the
 *            end.
 */
#ifndef ISOSCOPE_SESSION_BYTES_H
#define ISOSCOPE_SESSION_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
    uint8_t *data;
    size_t count, capacity;
    bool failed;
};

/* Room for so many behind the last one, which the caller counts; NULL: no memory. */
uint8_t *bytes_reserve(struct bytes *bytes, size_t count);
void bytes_put(struct bytes *bytes, const void *data, size_t count);
void bytes_byte(struct bytes *bytes, uint8_t byte);
void bytes_u32(struct bytes *bytes, uint32_t number);
void bytes_varint(struct bytes *bytes, uint64_t number);
void bytes_signed(struct bytes *bytes, int64_t number);
/* Empty again; keeps the memory. */
void bytes_clear(struct bytes *bytes);
void bytes_free(struct bytes *bytes);

/* A number out of four bytes. */
uint32_t bytes_read_u32(const uint8_t *at);

#endif
