#include "protocol/pprof/interned.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static uint32_t put(struct interned *interned, const char *text)
{
    bool added;

    return interned_put(interned, text, strlen(text), &added);
}

static void equal_bytes_have_one_number(void **state)
{
    struct interned interned = { 0 };
    bool added;

    (void)state;
    assert_int_equal(put(&interned, ""), 0);
    assert_int_equal(put(&interned, "main"), 1);
    assert_int_equal(put(&interned, "mai"), 2);
    assert_int_equal(put(&interned, ""), 0);
    assert_int_equal(interned_put(&interned, "main", 4, &added), 1);
    assert_false(added);
    assert_int_equal(interned_put(&interned, "main\0", 5, &added), 3);
    assert_true(added);
    interned_free(&interned);
}

static void a_hundred_thousand_are_kept_apart(void **state)
{
    struct interned interned = { 0 };
    char text[32];
    size_t size;

    (void)state;
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 100000; i++) {
            snprintf(text, sizeof(text), "function %u", i);
            assert_int_equal(put(&interned, text), i);
        }
    }
    assert_memory_equal(interned_text(&interned, 99999, &size), "function 99999", 14);
    assert_int_equal(size, 14);
    assert_false(interned.failed);
    interned_free(&interned);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_bytes_have_one_number),
        cmocka_unit_test(a_hundred_thousand_are_kept_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
