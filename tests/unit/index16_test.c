#include "sampler/profile/base/index16.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static uint64_t hash(const void *array, uint16_t number)
{
    return index16_mix(((const uint64_t *)array)[number]);
}

/* The number of key in array, which gets it at count when it is new. */
static uint16_t find_or_add(struct index16 *index, uint64_t *array, uint16_t *count, uint64_t key)
{
    struct index16_walk walk;

    assert_int_equal(index16_reserve(index, hash, array), 0);
    for (walk = index16_start(index, index16_mix(key)); *walk.slot; index16_step(index, &walk))
        if (array[*walk.slot] == key)
            return *walk.slot;
    array[*count] = key;
    index16_put(index, &walk, *count);
    return (*count)++;
}

static void every_number_up_to_the_last_is_found_again(void **state)
{
    uint64_t *array = calloc(65536, sizeof(*array));
    struct index16 index = { 0 };
    uint16_t count = 1;

    (void)state;
    for (uint64_t i = 1; i < 65536; i++)
        assert_int_equal(find_or_add(&index, array, &count, i << 20), i);
    count = 0; /* nothing may be added now */
    for (uint64_t i = 1; i < 65536; i++)
        assert_int_equal(find_or_add(&index, array, &count, i << 20), i);
    assert_int_equal(index.used, 65535);
    index16_free(&index);
    free(array);
}

static void an_emptied_index_finds_nothing_and_keeps_its_memory(void **state)
{
    uint64_t array[4] = { 0 };
    struct index16 index = { 0 };
    uint16_t count = 1;
    size_t bytes;

    (void)state;
    find_or_add(&index, array, &count, 11);
    bytes = index16_bytes(&index);
    index16_reset(&index);
    assert_int_equal(index16_bytes(&index), bytes);
    count = 3;
    assert_int_equal(find_or_add(&index, array, &count, 11), 3);
    index16_free(&index);
    assert_int_equal(index16_bytes(&index), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_up_to_the_last_is_found_again),
        cmocka_unit_test(an_emptied_index_finds_nothing_and_keeps_its_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
