/*
 * columns.h - columns of numbers, as a block of them holds: each with its size in bytes before it.
 *
 *     columns_begin(&columns, 3); bytes_varint(&columns.list[0], 7); ... columns_end(&columns, &out);
 *     if (!columns_split(content, size, list, 3)) ...; number = column_varint(&list[0]);
 *
 * Ownership  The user's structs. columns_free ends what columns_begin began; a struct column refers
 *            to the content that it was split from.
 * Errors     Reading behind a column's end, or a number that is too long, sets bad, and reads 0.
 */
#ifndef ISOSCOPE_SESSION_COLUMNS_H
#define ISOSCOPE_SESSION_COLUMNS_H

#include "bytes.h"

enum { COLUMNS_MAX = 16 };

struct columns {
    struct bytes list[COLUMNS_MAX];
    uint32_t count;
};

/* Empties them; keeps their memory. All zeros is a struct that has none. */
void columns_begin(struct columns *columns, uint32_t count);
/* Appends all to out. */
void columns_end(struct columns *columns, struct bytes *out);
void columns_free(struct columns *columns);

struct column {
    const uint8_t *at, *end;
    bool bad;
};

/* False: the content is not so many columns, and nothing behind them. */
bool columns_split(const uint8_t *content, size_t size, struct column *out, uint32_t count);
uint64_t column_varint(struct column *column);
int64_t column_signed(struct column *column);
uint8_t column_byte(struct column *column);
/* All of it has been read, and nothing was bad. */
bool column_is_done(const struct column *column);

#endif
