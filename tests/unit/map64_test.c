#include "sampler/profile/base/map64.h"

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

/* Each key is changed once more, some time after it came. */
static void a_value_that_changes_while_the_map_grows_stays_changed(void **state)
{
    enum { KEYS = 10000 };
    struct map64 map = { 0 };
    bool added;

    (void)state;
    for (uint32_t i = 1; i < KEYS; i++) {
        *map64_put(&map, i, &added) = i;
        *map64_put(&map, 1 + i / 2, &added) = KEYS + i / 2;
        assert_int_equal(map64_find(&map, 1 + i / 2), KEYS + i / 2);
    }
    for (uint32_t i = 1; i <= KEYS / 2; i++)
        assert_int_equal(map64_find(&map, i), KEYS + i - 1);
    for (uint32_t i = KEYS / 2 + 1; i < KEYS; i++)
        assert_int_equal(map64_find(&map, i), i);
    assert_int_equal(map64_find(&map, 0), 0);
    assert_int_equal(map.count, KEYS - 1);
    map64_free(&map);
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
        cmocka_unit_test(a_value_that_changes_while_the_map_grows_stays_changed),
        cmocka_unit_test(a_new_key_has_the_value_zero),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
