#include "base64.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void put_three(char at[4], const unsigned char *bytes)
{
    uint32_t three = (uint32_t)bytes[0] << 16 | (uint32_t)bytes[1] << 8 | bytes[2];

    for (int i = 0; i < 4; i++)
        at[i] = digits[three >> (18 - 6 * i) & 0x3f];
}

static void put_rest(struct json_text *text, const char *bytes, size_t length)
{
    unsigned char three[3] = { 0 };
    char four[4];

    memcpy(three, bytes, length);
    put_three(four, three);
    memset(four + length + 1, '=', 3 - length);
    json_text_raw(text, four, sizeof(four));
}

size_t base64_put(struct json_text *text, const char *bytes, size_t length, bool last)
{
    size_t whole = length / 3;
    char *at = json_text_reserve(text, whole * 4);

    if (!at)
        return length;
    for (size_t i = 0; i < whole; i++)
        put_three(at + 4 * i, (const unsigned char *)bytes + 3 * i);
    text->length += whole * 4;
    if (!last)
        return whole * 3;
    if (length % 3)
        put_rest(text, bytes + whole * 3, length % 3);
    return length;
}
