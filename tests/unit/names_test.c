#include "sampler/profile/store/names.h"

#include "sampler/feed/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void free_names(struct names **names)
{
    names_free(*names);
}

static void a_name_has_one_number_and_comes_back(void **state)
{
    CLEANUP(free_names) struct names *names = NULL;
    char name[32];

    (void)state;
    assert_int_equal(names_new(&names), 0);
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 5000; i++) {
            snprintf(name, sizeof(name), "name-%u", i);
            assert_int_equal(names_number(names, name), i + 1);
            assert_string_equal(names_text(names, i + 1), name);
        }
    }
}

static void a_number_nobody_was_given_has_no_text(void **state)
{
    CLEANUP(free_names) struct names *names = NULL;

    (void)state;
    assert_int_equal(names_new(&names), 0);
    names_number(names, "one");
    assert_null(names_text(names, 0));
    assert_null(names_text(names, 2));
    assert_null(names_text(names, UINT32_MAX));
}

static void names_beyond_the_bound_are_left_out(void **state)
{
    enum { NAME_BYTES = 4096 };
    CLEANUP(free_names) struct names *names = NULL;
    char name[NAME_BYTES];
    uint32_t room = NAMES_BYTES_MAX / NAME_BYTES;

    (void)state;
    assert_int_equal(names_new(&names), 0);
    memset(name, 'x', sizeof(name));
    for (uint32_t i = 0; i < room + 2; i++) {
        snprintf(name + NAME_BYTES - 11, 11, "%010u", i);
        assert_int_equal(names_number(names, name), i < room ? i + 1 : 0);
    }
    assert_int_equal(names_number(names, "short"), 0);
    snprintf(name + NAME_BYTES - 11, 11, "%010u", 7);
    assert_int_equal(names_number(names, name), 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_has_one_number_and_comes_back),
        cmocka_unit_test(a_number_nobody_was_given_has_no_text),
        cmocka_unit_test(names_beyond_the_bound_are_left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
