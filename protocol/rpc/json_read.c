#include "json_read.h"

#include "values.h"
#include "../text/json_writer.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STAND_IN     "\\u0000"
#define KEY_STAND_IN "\\ufffd"

enum { ESCAPE_BYTES = 6 /* \u1234 */ };

/* What is copied, and where we are in it. */
struct rewriting {
    const char *text, *end;
    struct json_text out;
    bool damaged;
};

static size_t digits(const char *at, const char *end)
{
    const char *from = at;

    while (at < end && isdigit((unsigned char)*at))
        at++;
    return (size_t)(at - from);
}

/* The bytes of the JSON number at the beginning; 0: there is none. whole: digits only. */
static size_t number_length(const char *text, const char *end, bool *whole)
{
    const char *at = text + (text < end && *text == '-');
    size_t count = digits(at, end);

    if (!count || (count > 1 && *at == '0'))
        return 0;
    at += count;
    *whole = true;
    if (at + 1 < end && *at == '.' && (count = digits(at + 1, end))) {
        at += 1 + count;
        *whole = false;
    }
    if (at + 1 < end && (*at == 'e' || *at == 'E')) {
        const char *exponent = at + 1 + (at[1] == '+' || at[1] == '-');

        count = digits(exponent, end);
        at = count ? exponent + count : at;
        *whole &= !count;
    }
    return (size_t)(at - text);
}

/* Returns the bytes taken. */
static size_t copy_number(struct rewriting *rewriting, const char *at)
{
    bool whole = false;
    size_t length = number_length(at, rewriting->end, &whole);
    char *copy = strndup(at, length);
    int64_t integer;

    if (!length || !copy) {
        free(copy);
        json_text_raw(&rewriting->out, at, 1);
        return 1;
    }
    if (!isfinite(strtod(copy, NULL))) {
        rewriting->damaged = true;
        json_text_literal(&rewriting->out, "\"" STAND_IN "\"");
    } else {
        json_text_raw(&rewriting->out, at, length);
        if (whole && !value_int64(copy, &integer))
            json_text_literal(&rewriting->out, ".0");
    }
    free(copy);
    return length;
}

/* at: behind the opening quote. Where the closing one is, or the end. */
static const char *string_end(const char *at, const char *end)
{
    for (; at < end && *at != '"'; at++)
        at += *at == '\\';
    return at < end ? at : end;
}

/* A name of an object's member: behind its quote there is a colon. */
static bool is_key(const char *quote, const char *end)
{
    const char *at = quote + 1;

    while (at < end && strchr(" \t\r\n", *at) && *at)
        at++;
    return at < end && *at == ':';
}

/* The code unit of the escape at at; -1: there is none. */
static long unit(const char *at, const char *end)
{
    char hex[5] = "";
    char *stop;
    long value;

    if (end - at < ESCAPE_BYTES || at[0] != '\\' || at[1] != 'u')
        return -1;
    memcpy(hex, at + 2, 4);
    value = isxdigit((unsigned char)hex[0]) ? strtol(hex, &stop, 16) : -1;
    return value >= 0 && stop == hex + 4 ? value : -1;
}

static bool is_high(long unit)
{
    return unit >= 0xd800 && unit < 0xdc00;
}

static bool is_low(long unit)
{
    return unit >= 0xdc00 && unit < 0xe000;
}

/* at: a backslash. Returns the bytes taken. */
static size_t copy_escape(struct rewriting *rewriting, const char *at, const char *end, bool key)
{
    long first = unit(at, end), second = is_high(first) ? unit(at + ESCAPE_BYTES, end) : -1;
    size_t length = is_low(second) ? 2 * ESCAPE_BYTES : first >= 0 ? ESCAPE_BYTES : 2;

    if (key && first == 0) {
        json_text_literal(&rewriting->out, KEY_STAND_IN); /* jansson has no such key */
    } else if (is_low(first) || (is_high(first) && !is_low(second))) {
        rewriting->damaged = true;
        if (key)
            json_text_literal(&rewriting->out, KEY_STAND_IN);
        else
            json_text_literal(&rewriting->out, STAND_IN);
    } else {
        length = end - at < (ptrdiff_t)length ? (size_t)(end - at) : length;
        json_text_raw(&rewriting->out, at, length);
    }
    return length;
}

/* at: the opening quote. Returns the bytes taken, with the closing one. */
static size_t copy_string(struct rewriting *rewriting, const char *at)
{
    const char *from = at, *end = string_end(at + 1, rewriting->end);
    bool key = end < rewriting->end && is_key(end, rewriting->end);

    while (at < end) {
        size_t plain = *at == '\\' ? 0 : (size_t)(end - at);
        const char *escape = memchr(at, '\\', (size_t)(end - at));

        if (plain && escape)
            plain = (size_t)(escape - at);
        json_text_raw(&rewriting->out, at, plain);
        at += plain ? plain : copy_escape(rewriting, at, end, key);
    }
    if (end < rewriting->end)
        json_text_raw(&rewriting->out, end++, 1);
    return (size_t)(end - from);
}

static void rewrite(struct rewriting *rewriting)
{
    const char *at = rewriting->text;

    while (at < rewriting->end)
        if (*at == '"') {
            at += copy_string(rewriting, at);
        } else if (*at == '-' || isdigit((unsigned char)*at)) {
            at += copy_number(rewriting, at);
        } else {
            json_text_raw(&rewriting->out, at++, 1);
        }
}

json_t *json_read(const char *text, size_t length, bool *damaged, json_error_t *error)
{
    static const size_t flags = JSON_DECODE_ANY | JSON_ALLOW_NUL;
    json_t *value = json_loadb(text, length, flags, error);
    struct rewriting rewriting = { .text = text, .end = text + length };
    json_error_t again;

    *damaged = false;
    if (value || json_error_code(error) == json_error_out_of_memory ||
        (json_error_code(error) != json_error_numeric_overflow && !memmem(text, length, "\\u", 2)))
        return value;
    rewrite(&rewriting);
    if (!rewriting.out.failed)
        value = json_loadb(rewriting.out.data, rewriting.out.length, flags, &again);
    *damaged = value && rewriting.damaged;
    json_text_free(&rewriting.out);
    return value;
}

bool json_is_damaged(const json_t *value)
{
    const char *name;
    json_t *member;
    size_t i;

    if (json_is_string(value))
        return memchr(json_string_value(value), '\0', json_string_length(value)) != NULL;
    json_array_foreach(value, i, member) if (json_is_damaged(member)) return true;
    json_object_foreach((json_t *)value, name, member) if (json_is_damaged(member)) return true;
    return false;
}
