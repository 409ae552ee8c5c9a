#include "json_writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const char hex_digits[] = "0123456789abcdef";
static const char digit_pairs[] = "00010203040506070809101112131415161718192021222324"
                                  "25262728293031323334353637383940414243444546474849"
                                  "50515253545556575859606162636465666768697071727374"
                                  "75767778798081828384858687888990919293949596979899";

void json_text_free(struct json_text *text)
{
    free(text->data);
    *text = (struct json_text){ 0 };
}

char *json_text_grow(struct json_text *text, size_t more)
{
    size_t capacity = text->capacity ? text->capacity : 256;
    char *data;

    while (capacity - text->length < more)
        capacity *= 2;
    data = text->failed ? NULL : realloc(text->data, capacity);
    if (!data) {
        text->capacity = text->length; /* so that all that follows comes here */
        text->failed = true;
        return NULL;
    }
    text->data = data;
    text->capacity = capacity;
    return data + text->length;
}

static unsigned digit_count(uint64_t value)
{
    uint64_t above = 10;
    unsigned count = 1;

    while (count < JSON_NUMBER_MAX && value >= above) {
        above *= 10; /* wraps at the twentieth digit, where count ends the loop */
        count++;
    }
    return count;
}

/* Where there is room for JSON_NUMBER_MAX; returns the place behind. Two digits a division: this
 * function is most of the time that a reply takes. */
static char *put_uint(char *at, uint64_t value)
{
    char *end = at + digit_count(value), *digit = end;

    while (value >= 100) {
        digit -= 2;
        memcpy(digit, &digit_pairs[value % 100 * 2], 2);
        value /= 100;
    }
    if (value >= 10)
        memcpy(digit - 2, &digit_pairs[value * 2], 2);
    else
        digit[-1] = (char)('0' + value);
    return end;
}

void json_text_uint(struct json_text *text, uint64_t value)
{
    char *at = json_text_reserve(text, JSON_NUMBER_MAX);

    if (at)
        text->length = (size_t)(put_uint(at, value) - text->data);
}

void json_text_int(struct json_text *text, int64_t value)
{
    if (value < 0)
        json_text_literal(text, "-");
    /* Negated as unsigned: -INT64_MIN has no place in int64_t. */
    json_text_uint(text, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

static bool continues(const unsigned char *bytes, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if ((bytes[i] & 0xc0) != 0x80)
            return false;
    return true;
}

size_t utf8_character(const unsigned char *bytes, size_t length)
{
    unsigned char first = bytes[0], second = length > 1 ? bytes[1] : 0;
    size_t count = first < 0x80   ? 1
                   : first < 0xc2 ? 0
                   : first < 0xe0 ? 2
                   : first < 0xf0 ? 3
                   : first < 0xf5 ? 4
                                  : 0;

    if (count == 0 || count > length || !continues(bytes, count))
        return 0;
    /* Longer than needed, a surrogate, or above U+10FFFF. */
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
        (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f))
        return 0;
    return count;
}

static bool plain(unsigned char byte)
{
    return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
}

static void escape_control(struct json_text *text, unsigned char byte)
{
    char escape[6] = { '\\', 'u', '0', '0', hex_digits[byte >> 4], hex_digits[byte & 15] };

    json_text_raw(text, escape, sizeof(escape));
}

/* One character that is not plain; returns its bytes. */
static size_t escape_character(struct json_text *text, const unsigned char *bytes, size_t length)
{
    size_t count = utf8_character(bytes, length);

    if (count == 0) {
        json_text_literal(text, "\xef\xbf\xbd");
        return 1;
    }
    if (*bytes == '"')
        json_text_literal(text, "\\\"");
    else if (*bytes == '\\')
        json_text_literal(text, "\\\\");
    else if (*bytes == '\n')
        json_text_literal(text, "\\n");
    else if (*bytes < 0x20 || *bytes == 0x7f)
        escape_control(text, *bytes);
    else
        json_text_raw(text, (const char *)bytes, count);
    return count;
}

void json_text_escaped(struct json_text *text, const char *bytes, size_t length)
{
    const unsigned char *at = (const unsigned char *)bytes, *end = at + length;

    while (at < end) {
        const unsigned char *run = at;

        while (at < end && plain(*at))
            at++;
        json_text_raw(text, (const char *)run, (size_t)(at - run));
        if (at < end)
            at += escape_character(text, at, (size_t)(end - at));
    }
}

void json_text_string(struct json_text *text, const char *string)
{
    json_text_literal(text, "\"");
    json_text_escaped(text, string, strlen(string));
    json_text_literal(text, "\"");
}

void json_text_double(struct json_text *text, double value)
{
    char digits[32];
    uint64_t hundredths = (uint64_t)(value * 100 + 0.5);
    int length = snprintf(digits, sizeof(digits), "%" PRIu64, hundredths / 100);

    if (hundredths % 100)
        length += snprintf(digits + length, sizeof(digits) - (size_t)length, ".%02" PRIu64,
                           hundredths % 100);
    json_text_raw(text, digits, (size_t)length);
}
