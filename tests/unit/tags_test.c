#include "protocol/text/tags.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static void a_tag_is_there_once_in_the_order_of_first_use(void **state)
{
    struct tags tags = { 0 };

    (void)state;
    tags_add(&tags, "Running");
    tags_add(&tags, "main");
    tags_add(&tags, "Running");
    tags_add(&tags, "main");
    tags_add(&tags, "worker");
    assert_int_equal(tags.count, 3);
    assert_string_equal(tags.names[0], "Running");
    assert_string_equal(tags.names[1], "main");
    assert_string_equal(tags.names[2], "worker");
    tags_free(&tags);
}

static void thousands_of_tags_are_kept_apart(void **state)
{
    struct tags tags = { 0 };
    char name[16];

    (void)state;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 5000; i++) {
            snprintf(name, sizeof(name), "thread-%d", i);
            tags_add(&tags, name);
        }
    }
    assert_int_equal(tags.count, 5000);
    assert_string_equal(tags.names[4999], "thread-4999");
    assert_false(tags.failed);
    tags_free(&tags);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tag_is_there_once_in_the_order_of_first_use),
        cmocka_unit_test(thousands_of_tags_are_kept_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
