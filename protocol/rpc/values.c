#include "values.h"

#include "../text/json_writer.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Dart writes exponents only from here on. */
enum { DECIMAL_EXPONENT_MIN = -7, DECIMAL_EXPONENT_MAX = 21 };

/* digits: of the shortest text that reads back as value. Returns the exponent of the first. */
static int shortest_digits(double value, char digits[20])
{
    char text[40];
    size_t count = 0;

    for (int precision = 0; precision < 17; precision++) {
        snprintf(text, sizeof(text), "%.*e", precision, value);
        if (strtod(text, NULL) == value)
            break;
    }
    for (const char *at = text; *at != 'e'; at++)
        if (isdigit((unsigned char)*at))
            digits[count++] = *at;
    digits[count] = '\0';
    return atoi(strchr(text, 'e') + 1);
}

static void put_zeros(struct json_text *text, int count)
{
    for (int i = 0; i < count; i++)
        json_text_literal(text, "0");
}

static void put_decimal(struct json_text *text, const char *digits, int exponent)
{
    int count = (int)strlen(digits), whole = exponent + 1;

    if (whole <= 0) {
        json_text_literal(text, "0.");
        put_zeros(text, -whole);
        json_text_raw(text, digits, (size_t)count);
    } else if (whole >= count) {
        json_text_raw(text, digits, (size_t)count);
        put_zeros(text, whole - count);
        json_text_literal(text, ".0");
    } else {
        json_text_raw(text, digits, (size_t)whole);
        json_text_literal(text, ".");
        json_text_raw(text, digits + whole, (size_t)(count - whole));
    }
}

static void put_real(struct json_text *text, double value)
{
    char digits[20], tail[8];
    int exponent = shortest_digits(value, digits);

    if (value < 0)
        json_text_literal(text, "-");
    if (exponent > DECIMAL_EXPONENT_MIN && exponent < DECIMAL_EXPONENT_MAX)
        return put_decimal(text, digits, exponent);
    json_text_raw(text, digits, 1);
    if (digits[1]) {
        json_text_literal(text, ".");
        json_text_raw(text, digits + 1, strlen(digits + 1));
    }
    json_text_raw(text, tail, (size_t)snprintf(tail, sizeof(tail), "e%+d", exponent));
}

static void put_value(struct json_text *text, const json_t *value);

static void put_list(struct json_text *text, const json_t *list)
{
    json_text_literal(text, "[");
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (i)
            json_text_literal(text, ", ");
        put_value(text, json_array_get(list, i));
    }
    json_text_literal(text, "]");
}

static void put_map(struct json_text *text, const json_t *map)
{
    json_t *shared = (json_t *)map; /* jansson's iterators want it so; nothing is changed */
    bool first = true;

    json_text_literal(text, "{");
    for (void *at = json_object_iter(shared); at; at = json_object_iter_next(shared, at)) {
        const char *key = json_object_iter_key(at);

        if (!first)
            json_text_literal(text, ", ");
        first = false;
        json_text_raw(text, key, strlen(key));
        json_text_literal(text, ": ");
        put_value(text, json_object_iter_value(at));
    }
    json_text_literal(text, "}");
}

static void put_value(struct json_text *text, const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return put_map(text, value);
    case JSON_ARRAY:
        return put_list(text, value);
    case JSON_STRING:
        return json_text_raw(text, json_string_value(value), json_string_length(value));
    case JSON_INTEGER:
        return json_text_int(text, json_integer_value(value));
    case JSON_REAL:
        return put_real(text, json_real_value(value));
    case JSON_TRUE:
        return json_text_literal(text, "true");
    case JSON_FALSE:
        return json_text_literal(text, "false");
    case JSON_NULL:
        return json_text_literal(text, "null");
    }
}

json_t *value_text(const json_t *value)
{
    struct json_text text = { 0 };
    json_t *string = NULL;

    put_value(&text, value);
    if (!text.failed)
        string = json_stringn(text.data ? text.data : "", text.length);
    json_text_free(&text);
    return string;
}

bool value_int64(const char *text, int64_t *out)
{
    const char *digits = text + (*text == '-');
    long long value;

    if (!*digits || digits[strspn(digits, "0123456789")])
        return false;
    errno = 0;
    value = strtoll(text, NULL, 10);
    if (errno == ERANGE)
        return false;
    *out = value;
    return true;
}

json_t *value_list(const char *text)
{
    size_t length = strlen(text);
    const char *at = text + 1, *end = text + length - 1;
    json_t *list;

    if (length < 2 || text[0] != '[' || *end != ']')
        return NULL;
    list = json_array();
    while (list && at < end) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma ? comma : end;

        at += strspn(at, " ");
        if (at < stop)
            json_array_append_new(list, json_stringn(at, (size_t)(stop - at)));
        at = stop + 1;
    }
    return list;
}
