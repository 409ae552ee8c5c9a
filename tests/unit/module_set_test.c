#include "sampler/profile/intake/module_set.h"

#include "sampler/feed/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void it_has_what_was_added_and_nothing_else(void **state)
{
    CLEANUP(module_set_free) struct module_set set = { 0 };

    (void)state;
    assert_false(module_set_has(&set, 0));
    module_set_add(&set, 63);
    module_set_add(&set, 64);
    module_set_add(&set, 65535);
    for (uint32_t number = 0; number < 70000; number++)
        assert_int_equal(module_set_has(&set, number),
                         number == 63 || number == 64 || number == 65535);
}

static void merging_keeps_both_whichever_is_longer(void **state)
{
    CLEANUP(module_set_free) struct module_set low = { 0 }, high = { 0 }, empty = { 0 };

    (void)state;
    module_set_add(&low, 1);
    module_set_add(&high, 1000);
    module_set_merge(&high, &low);
    module_set_merge(&low, &high);
    module_set_merge(&low, &empty);
    assert_true(module_set_has(&low, 1) && module_set_has(&low, 1000));
    assert_true(module_set_has(&high, 1) && module_set_has(&high, 1000));
    assert_false(module_set_has(&empty, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_has_what_was_added_and_nothing_else),
        cmocka_unit_test(merging_keeps_both_whichever_is_longer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
