#include "protocol/rpc/values.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_printed(const char *json, const char *expected)
{
    json_t *value = json_loads(json, JSON_DECODE_ANY, NULL), *text = value_text(value);

    assert_string_equal(json_string_value(text), expected);
    json_decref(text);
    json_decref(value);
}

/* Expectations: what a Dart VM echoed in its errors. */
static void values_are_printed_as_dart_prints_them(void **state)
{
    (void)state;
    assert_printed("5", "5");
    assert_printed("\"5 \"", "5 ");
    assert_printed("true", "true");
    assert_printed("null", "null");
    assert_printed("1.5", "1.5");
    assert_printed("1000.0", "1000.0");
    assert_printed("0.0", "0.0");
    assert_printed("-0.25", "-0.25");
    assert_printed("0.000001", "0.000001");
    assert_printed("1e-7", "1e-7");
    assert_printed("1e30", "1e+30");
    assert_printed("1.25e30", "1.25e+30");
    assert_printed("9223372036854775808.0", "9223372036854776000.0");
    assert_printed("[1, \"a\", [true]]", "[1, a, [true]]");
    assert_printed("{}", "{}");
    assert_printed("{\"a\": 1, \"b\": [2]}", "{a: 1, b: [2]}");
}

static void integers_are_read_strictly(void **state)
{
    static const char *const refused[] = { "",       "-",    "abc", "1.5",
                                           "1000.0", "0x10", " 5",  "5 ",
                                           "true",   "+5",   "1e3", "9223372036854775808",
                                           "--1" };
    int64_t value = 7;

    (void)state;
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
        assert_false(value_int64(refused[i], &value));
    assert_int_equal(value, 7);
    assert_true(value_int64("-9223372036854775808", &value));
    assert_true(value == INT64_MIN);
    assert_true(value_int64("9223372036854775807", &value));
    assert_true(value == INT64_MAX);
}

static void lists_come_as_text_too(void **state)
{
    json_t *list = value_list("[Dart, GC,Embedder]");

    (void)state;
    assert_int_equal(json_array_size(list), 3);
    assert_string_equal(json_string_value(json_array_get(list, 1)), "GC");
    assert_string_equal(json_string_value(json_array_get(list, 2)), "Embedder");
    json_decref(list);
    list = value_list("[]");
    assert_int_equal(json_array_size(list), 0);
    json_decref(list);
    assert_null(value_list("Dart"));
    assert_null(value_list("["));
    assert_null(value_list(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_printed_as_dart_prints_them),
        cmocka_unit_test(integers_are_read_strictly),
        cmocka_unit_test(lists_come_as_text_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
