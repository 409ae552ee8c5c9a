#include "protocol/text/json_writer.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void assert_text(struct json_text *text, const char *expected)
{
    assert_false(text->failed);
    assert_int_equal(text->length, strlen(expected));
    assert_memory_equal(text->data, expected, text->length);
    json_text_free(text);
}

/* What a JSON reader makes of the string written for bytes. */
static void assert_reads_as(const char *bytes, const char *expected)
{
    struct json_text text = { 0 };
    json_t *value;

    json_text_string(&text, bytes);
    value = json_loadb(text.data, text.length, JSON_DECODE_ANY, NULL);
    assert_non_null(value);
    assert_string_equal(json_string_value(value), expected);
    json_decref(value);
    json_text_free(&text);
}

static void integers_have_all_their_digits(void **state)
{
    struct json_text text = { 0 };

    (void)state;
    json_text_uint(&text, 0);
    json_text_literal(&text, " ");
    json_text_uint(&text, UINT64_MAX);
    json_text_literal(&text, " ");
    json_text_int(&text, INT64_MIN);
    json_text_literal(&text, " ");
    json_text_int(&text, INT64_MAX);
    assert_text(&text, "0 18446744073709551615 -9223372036854775808 9223372036854775807");
}

static void strings_are_escaped(void **state)
{
    struct json_text text = { 0 };

    (void)state;
    json_text_string(&text, "a\"b\\c\nd\x01\x7f/");
    assert_text(&text, "\"a\\\"b\\\\c\\nd\\u0001\\u007f/\"");
}

static void every_byte_reads_back(void **state)
{
    char bytes[128];

    (void)state;
    for (int i = 1; i < 128; i++)
        bytes[i - 1] = (char)i;
    bytes[127] = '\0';
    assert_reads_as(bytes, bytes);
    assert_reads_as("", "");
    assert_reads_as("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
                    "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
}

#define REPLACED "\xef\xbf\xbd"

static void bytes_that_are_no_utf8_are_replaced(void **state)
{
    (void)state;
    assert_reads_as("a\xff"
                    "b",
                    "a" REPLACED "b");
    assert_reads_as("cut \xe2\x82", "cut " REPLACED REPLACED);
    assert_reads_as("\xc0\xaf", REPLACED REPLACED);              /* longer than needed */
    assert_reads_as("\xed\xa0\x80", REPLACED REPLACED REPLACED); /* a surrogate */
    assert_reads_as("\xf4\x90\x80\x80", REPLACED REPLACED REPLACED REPLACED); /* above U+10FFFF */
}

static void long_texts_keep_what_was_there(void **state)
{
    struct json_text text = { 0 };

    (void)state;
    for (int i = 0; i < 100000; i++)
        json_text_literal(&text, "ab");
    assert_int_equal(text.length, 200000);
    for (size_t i = 0; i < text.length; i++)
        assert_int_equal(text.data[i], i % 2 ? 'b' : 'a');
    json_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_have_all_their_digits),
        cmocka_unit_test(strings_are_escaped),
        cmocka_unit_test(every_byte_reads_back),
        cmocka_unit_test(bytes_that_are_no_utf8_are_replaced),
        cmocka_unit_test(long_texts_keep_what_was_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
