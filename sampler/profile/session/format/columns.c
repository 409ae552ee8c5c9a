#include "columns.h"

#include <assert.h>

void columns_begin(struct columns *columns, uint32_t count)
{
    assert(count <= COLUMNS_MAX);
    columns->count = count;
    for (uint32_t i = 0; i < count; i++)
        bytes_clear(&columns->list[i]);
}

void columns_end(struct columns *columns, struct bytes *out)
{
    for (uint32_t i = 0; i < columns->count; i++) {
        bytes_varint(out, columns->list[i].count);
        bytes_put(out, columns->list[i].data, columns->list[i].count);
        out->failed |= columns->list[i].failed;
    }
}

void columns_free(struct columns *columns)
{
    for (uint32_t i = 0; i < COLUMNS_MAX; i++)
        bytes_free(&columns->list[i]);
}

bool columns_split(const uint8_t *content, size_t size, struct column *out, uint32_t count)
{
    struct column rest = { content, content + size, false };

    for (uint32_t i = 0; i < count; i++) {
        uint64_t bytes = column_varint(&rest);

        if (rest.bad || bytes > (uint64_t)(rest.end - rest.at))
            return false;
        out[i] = (struct column){ rest.at, rest.at + bytes, false };
        rest.at += bytes;
    }
    return rest.at == rest.end;
}

uint64_t column_varint(struct column *column)
{
    uint64_t number = 0;

    for (uint32_t shift = 0; shift < 64 && column->at < column->end; shift += 7) {
        uint8_t byte = *column->at++;

        if (shift == 63 && byte > 1)
            break;
        number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return number;
    }
    column->bad = true;
    return 0;
}

int64_t column_signed(struct column *column)
{
    uint64_t number = column_varint(column);

    return (int64_t)(number >> 1 ^ (0 - (number & 1)));
}

uint8_t column_byte(struct column *column)
{
    if (column->at < column->end)
        return *column->at++;
    column->bad = true;
    return 0;
}

bool column_is_done(const struct column *column)
{
    return !column->bad && column->at == column->end;
}
