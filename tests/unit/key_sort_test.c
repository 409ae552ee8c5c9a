#include "sampler/profile/symbols/key_sort.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MANY = 5000, FEW = 7 };

/* Fills with keys that are below the limit, numbered in order. */
static void fill(struct sort_key *keys, uint32_t count, uint64_t limit)
{
    uint64_t random = 1;

    for (uint32_t i = 0; i < count; i++) {
        random = random * 6364136223846793005 + 1442695040888963407;
        keys[i] = (struct sort_key){ (random >> 8) % limit, i };
    }
}

/* Ascending, and of equal keys the one that came first is first; none is lost, none changed. */
static void check_order(const struct sort_key *keys, const struct sort_key *before, uint32_t count)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < count; i++) {
        assert_true(keys[i].number < count);
        assert_int_equal(keys[i].key, before[keys[i].number].key);
        sum += keys[i].number;
        if (i == 0)
            continue;
        assert_true(keys[i - 1].key <= keys[i].key);
        if (keys[i - 1].key == keys[i].key)
            assert_true(keys[i - 1].number < keys[i].number);
    }
    assert_int_equal(sum, (uint64_t)count * (count - 1) / 2);
}

static void keys_come_in_order_and_equal_ones_keep_theirs(void **state)
{
    static const uint64_t limits[] = { 2, 300, 1 << 20, UINT64_C(1) << 33, UINT64_MAX };
    static const uint32_t counts[] = { 1, FEW, MANY };
    struct sort_key keys[MANY], before[MANY];

    (void)state;
    for (size_t l = 0; l < sizeof(limits) / sizeof(limits[0]); l++)
        for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
            fill(keys, counts[c], limits[l]);
            fill(before, counts[c], limits[l]);
            assert_int_equal(key_sort(keys, counts[c]), 0);
            check_order(keys, before, counts[c]);
        }
}

static void the_highest_bit_counts_as_any_other(void **state)
{
    struct sort_key keys[MANY], before[MANY];

    (void)state;
    fill(keys, MANY, 1000);
    for (uint32_t i = 0; i < MANY; i++)
        keys[i].key |= (uint64_t)(i % 2) << 63;
    for (uint32_t i = 0; i < MANY; i++)
        before[i] = keys[i];
    assert_int_equal(key_sort(keys, MANY), 0);
    check_order(keys, before, MANY);
}

static void none_are_sorted(void **state)
{
    (void)state;
    assert_int_equal(key_sort(NULL, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_come_in_order_and_equal_ones_keep_theirs),
        cmocka_unit_test(the_highest_bit_counts_as_any_other),
        cmocka_unit_test(none_are_sorted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
