/* JSON by grammar that jansson refuses to read. */
#include "protocol/rpc/json_read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static json_t *read_text(const char *text, bool *damaged)
{
    json_error_t error;

    return json_read(text, strlen(text), damaged, &error);
}

static void only_integers_beyond_64_bits_become_doubles(void **state)
{
    bool damaged = true;
    json_t *value = read_text("{\"id\":12345678901234567890,\"a\":[9223372036854775807,-1,1e5],"
                              "\"12345678901234567890\":\"\\\"99999999999999999999\"}",
                              &damaged);

    (void)state;
    assert_false(damaged);
    assert_true(json_is_real(json_object_get(value, "id")));
    assert_true(json_is_integer(json_array_get(json_object_get(value, "a"), 0)));
    assert_string_equal(json_string_value(json_object_get(value, "12345678901234567890")),
                        "\"99999999999999999999");
    json_decref(value);
}

static void what_no_value_can_hold_damages_only_what_it_stands_in(void **state)
{
    static const char *const rows[] = {
        "{\"a\":1e400,\"b\":1}",
        "{\"a\":-123e456789,\"b\":\"\\ud834\\udd1e\"}",
        "{\"a\":\"\\ud800\",\"b\":\"\\\\ud800\"}",
        "{\"a\":[{\"c\":\"x\\udfff\"}],\"b\":[]}",
        "{\"a\":\"\\ud800\\u0041\",\"b\":{}}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        bool damaged = false;
        json_t *value = read_text(rows[i], &damaged);

        assert_non_null(value);
        assert_true(damaged);
        assert_true(json_is_damaged(json_object_get(value, "a")));
        assert_false(json_is_damaged(json_object_get(value, "b")));
        json_decref(value);
    }
}

static void what_is_no_json_stays_none(void **state)
{
    static const char *const rows[] = {
        "1e400x",      "01e400",  "-1e400-",       "[1e400 1]",         "{\"a\":1e400",
        "\"\\ud80g\"", "1e400.5", "\"\\ud800\n\"", "{\"a\":\"\\ud800}", "\\ud800",
        "1.e400",      "1e",      "\"\\u12",       "\"\\ud800\\",       "+1e400",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        bool damaged = true;

        assert_null(read_text(rows[i], &damaged));
        assert_false(damaged);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_integers_beyond_64_bits_become_doubles),
        cmocka_unit_test(what_no_value_can_hold_damages_only_what_it_stands_in),
        cmocka_unit_test(what_is_no_json_stays_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
