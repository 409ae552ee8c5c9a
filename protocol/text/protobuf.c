#include "protobuf.h"

enum {
    WIRE_VARINT = 0,
    WIRE_FIXED = 1,
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

void protobuf_packed(struct json_text *bytes, uint64_t value)
{
    put_varint(bytes, value);
}

void protobuf_fixed(struct json_text *bytes, uint32_t field, uint64_t value)
{
    unsigned char little[sizeof(value)];

    for (size_t i = 0; i < sizeof(little); i++, value >>= 8)
        little[i] = (unsigned char)value;
    put_tag(bytes, field, WIRE_FIXED);
    json_text_raw(bytes, (const char *)little, sizeof(little));
}

void protobuf_double(struct json_text *bytes, uint32_t field, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    protobuf_fixed(bytes, field, bits);
}

static size_t count_valid(const char *string, size_t length)
{
    size_t count = 0, more = 1;

    while (count < length && more) {
        more = utf8_character((const unsigned char *)string + count, length - count);
        count += more;
    }
    return count;
}

static void put_mended(struct json_text *bytes, uint32_t field, const char *string, size_t length)
{
    size_t begun = protobuf_begin(bytes, field);

    while (length) {
        size_t valid = count_valid(string, length);

        json_text_raw(bytes, string, valid);
        if (valid < length) {
            json_text_literal(bytes, "\xef\xbf\xbd");
            valid++;
        }
        string += valid;
        length -= valid;
    }
    protobuf_end(bytes, begun);
}

void protobuf_text(struct json_text *bytes, uint32_t field, const char *string, size_t length)
{
    if (count_valid(string, length) < length)
        return put_mended(bytes, field, string, length);
    put_tag(bytes, field, WIRE_LENGTH);
    put_varint(bytes, length);
    json_text_raw(bytes, string, length);
}

void protobuf_string(struct json_text *bytes, uint32_t field, const char *string)
{
    protobuf_text(bytes, field, string, strlen(string));
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

void protobuf_head(struct json_text *bytes, uint32_t field, size_t length)
{
    put_tag(bytes, field, WIRE_LENGTH);
    put_varint(bytes, length);
}
