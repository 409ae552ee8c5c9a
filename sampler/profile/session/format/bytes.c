#include "bytes.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 4096, VARINT_MAX = 10 };

static bool make_room(struct bytes *bytes, size_t more)
{
    size_t capacity = bytes->capacity ? bytes->capacity : FIRST_CAPACITY;
    uint8_t *data;

    if (bytes->failed)
        return false;
    while (capacity - bytes->count < more)
        capacity *= 2;
    if (capacity == bytes->capacity)
        return true;
    data = realloc(bytes->data, capacity);
    bytes->failed = !data;
    if (!data)
        return false;
    bytes->data = data;
    bytes->capacity = capacity;
    return true;
}

uint8_t *bytes_reserve(struct bytes *bytes, size_t count)
{
    return make_room(bytes, count) ? bytes->data + bytes->count : NULL;
}

void bytes_put(struct bytes *bytes, const void *data, size_t count)
{
    if (!count || !make_room(bytes, count))
        return;
    memcpy(bytes->data + bytes->count, data, count);
    bytes->count += count;
}

void bytes_byte(struct bytes *bytes, uint8_t byte)
{
    if (make_room(bytes, 1))
        bytes->data[bytes->count++] = byte;
}

void bytes_u32(struct bytes *bytes, uint32_t number)
{
    const uint8_t little[4] = { (uint8_t)number, (uint8_t)(number >> 8), (uint8_t)(number >> 16),
                                (uint8_t)(number >> 24) };

    bytes_put(bytes, little, sizeof(little));
}

void bytes_varint(struct bytes *bytes, uint64_t number)
{
    if (!make_room(bytes, VARINT_MAX))
        return;
    for (; number >= 0x80; number >>= 7)
        bytes->data[bytes->count++] = (uint8_t)(number | 0x80);
    bytes->data[bytes->count++] = (uint8_t)number;
}

void bytes_signed(struct bytes *bytes, int64_t number)
{
    bytes_varint(bytes, (uint64_t)number << 1 ^ (uint64_t)(number >> 63));
}

void bytes_clear(struct bytes *bytes)
{
    bytes->count = 0;
    bytes->failed = false;
}

void bytes_free(struct bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct bytes){ 0 };
}

uint32_t bytes_read_u32(const uint8_t *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}
