#include "protobuf.h"

enum {
    WIRE_VARINT = 0,
    WIRE_LENGTH = 2,
    VARINT_MAX = 10,
    LENGTH_BYTES = 4, /* of a message's length, which is known at its end: filled up with 0x80 */
};

static void put_varint(struct json_text *bytes, uint64_t value)
{
    char *at = json_text_reserve(bytes, VARINT_MAX);

    if (!at)
        return;
    for (; value >= 0x80; value >>= 7)
        *at++ = (char)(value | 0x80);
    *at++ = (char)value;
    bytes->length = (size_t)(at - bytes->data);
}

static void put_tag(struct json_text *bytes, uint32_t field, uint32_t wire)
{
    put_varint(bytes, (uint64_t)field << 3 | wire);
}

void protobuf_uint(struct json_text *bytes, uint32_t field, uint64_t value)
{
    put_tag(bytes, field, WIRE_VARINT);
    put_varint(bytes, value);
}

void protobuf_string(struct json_text *bytes, uint32_t field, const char *string)
{
    size_t length = strlen(string);

    put_tag(bytes, field, WIRE_LENGTH);
    put_varint(bytes, length);
    json_text_raw(bytes, string, length);
}

size_t protobuf_begin(struct json_text *bytes, uint32_t field)
{
    put_tag(bytes, field, WIRE_LENGTH);
    json_text_raw(bytes, "\0\0\0\0", LENGTH_BYTES);
    return bytes->length;
}

void protobuf_end(struct json_text *bytes, size_t begun)
{
    size_t length = bytes->length - begun;

    if (bytes->failed)
        return;
    for (size_t i = 0; i < LENGTH_BYTES; i++, length >>= 7)
        bytes->data[begun - LENGTH_BYTES + i] =
            (char)((length & 0x7f) | (i + 1 < LENGTH_BYTES ? 0x80 : 0));
}
