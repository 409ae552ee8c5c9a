#include "sampler/capture/restless.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants the headers above first */
#include <cmocka.h>

/* A millisecond of CPU time is 1,000,000 ns: CPU time, time waited, slices. */

static void many_slices_in_little_time_make_it_restless(void **state)
{
    struct restless thread = { 0 };

    (void)state;
    restless_judge(&thread, "10000000 77 49\n");
    assert_false(thread.is);
    restless_judge(&thread, "20000000 77 99\n");
    assert_true(thread.is);
}

static void a_restless_thread_calms_down_with_few(void **state)
{
    struct restless thread = { .is = true };

    (void)state;
    restless_judge(&thread, "10000000 0 20\n");
    assert_true(thread.is);
    restless_judge(&thread, "20000000 0 39\n");
    assert_false(thread.is);
}

/* What it did meanwhile counts at the next look. */
static void one_that_has_hardly_run_stays_what_it_is(void **state)
{
    struct restless thread = { 0 };

    (void)state;
    restless_judge(&thread, "4000000 0 40\n");
    assert_false(thread.is);
    assert_int_equal(thread.slices, 0);
    restless_judge(&thread, "8000000 0 80\n");
    assert_true(thread.is);
    restless_judge(&thread, "8000001 0 80\n");
    assert_true(thread.is);
}

static void a_kernel_that_tells_nothing_changes_nothing(void **state)
{
    struct restless thread = { .is = true };

    (void)state;
    restless_judge(&thread, "");
    restless_judge(&thread, "0 0 0\n");
    restless_look(&thread, "/nowhere/schedstat");
    assert_true(thread.is);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_slices_in_little_time_make_it_restless),
        cmocka_unit_test(a_restless_thread_calms_down_with_few),
        cmocka_unit_test(one_that_has_hardly_run_stays_what_it_is),
        cmocka_unit_test(a_kernel_that_tells_nothing_changes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
