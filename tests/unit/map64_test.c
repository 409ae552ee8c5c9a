#include "sampler/profile/map64.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Zero and all ones are keys like others. */
static void each_key_keeps_its_value_while_the_map_grows(void **state)
{
    struct map64 map = { 0 };
    bool added;

    (void)state;
    *map64_put(&map, UINT64_MAX, &added) = 7;
    assert_true(added);
    for (uint32_t i = 0; i < 10000; i++) {
        *map64_put(&map, (uint64_t)i << 40, &added) = i;
        assert_true(added);
    }
    for (uint32_t i = 0; i < 10000; i++) {
        assert_int_equal(*map64_put(&map, (uint64_t)i << 40, &added), i);
        assert_false(added);
    }
    assert_int_equal(*map64_put(&map, UINT64_MAX, &added), 7);
    map64_free(&map);
    assert_int_equal(map.count, 0);
}

static void a_new_key_has_the_value_zero(void **state)
{
    struct map64 map = { 0 };
    bool added;

    (void)state;
    assert_int_equal(*map64_put(&map, 5, &added), 0);
    assert_true(added);
    map64_free(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_key_keeps_its_value_while_the_map_grows),
        cmocka_unit_test(a_new_key_has_the_value_zero),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
