#include "sampler/profile/wall/blocked.h"

#include "sampler/feed/sys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants the headers above first */
#include <cmocka.h>

static void a_blocked_thread_tells_its_call_and_where_it_is(void **state)
{
    struct blocked blocked;

    (void)state;
    assert_true(blocked_parse("230 0x0 0x0 0x7ffef7a49c70 0x7ffef7a49cb0 0x0 0xff 0x7ffef7a49c58 "
                              "0x7fdf7a135503\n",
                              &blocked));
    assert_false(blocked.runs);
    assert_int_equal(blocked.number, 230);
    assert_int_equal(blocked.sp, 0x7ffef7a49c58);
    assert_int_equal(blocked.pc, 0x7fdf7a135503);
}

static void one_that_waits_outside_calls_has_number_minus_one(void **state)
{
    struct blocked blocked;

    (void)state;
    assert_true(blocked_parse("-1 0x7ffd00001230 0x55aa00004560\n", &blocked));
    assert_int_equal(blocked.number, -1);
    assert_int_equal(blocked.sp, 0x7ffd00001230);
    assert_int_equal(blocked.pc, 0x55aa00004560);
}

static void a_zombie_has_no_stack(void **state)
{
    struct blocked blocked;

    (void)state;
    assert_true(blocked_parse("-1 0x0 0x0\n", &blocked));
    assert_int_equal(blocked.sp, 0);
}

static void one_that_runs_tells_nothing(void **state)
{
    struct blocked blocked;

    (void)state;
    assert_true(blocked_parse("running\n", &blocked));
    assert_true(blocked.runs);
}

static void what_is_cut_or_no_such_text_is_refused(void **state)
{
    struct blocked blocked;

    (void)state;
    assert_false(blocked_parse("", &blocked));
    assert_false(blocked_parse("7\n", &blocked));
    assert_false(blocked_parse("7 0x1 0x2 0x3 0x4 0x5 0x6 0x7\n", &blocked));
    assert_false(blocked_parse("7 0x1 0x2 0x3 0x4 0x5 0xZZ 0x7 0x8\n", &blocked));
    assert_false(blocked_parse("-1 0x1\n", &blocked));
}

static void the_call_says_what_a_thread_waits_for(void **state)
{
    (void)state;
    assert_int_equal(blocked_state(SYS_futex), FEED_STATE_LOCK);
    assert_int_equal(blocked_state(SYS_flock), FEED_STATE_LOCK);
    assert_int_equal(blocked_state(SYS_ppoll), FEED_STATE_SLEEP);
    assert_int_equal(blocked_state(SYS_clock_nanosleep), FEED_STATE_SLEEP);
    assert_int_equal(blocked_state(SYS_wait4), FEED_STATE_SLEEP);
    assert_int_equal(blocked_state(SYS_read), FEED_STATE_IO);
    assert_int_equal(blocked_state(SYS_recvfrom), FEED_STATE_IO);
    assert_int_equal(blocked_state(SYS_fsync), FEED_STATE_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_blocked_thread_tells_its_call_and_where_it_is),
        cmocka_unit_test(one_that_waits_outside_calls_has_number_minus_one),
        cmocka_unit_test(a_zombie_has_no_stack),
        cmocka_unit_test(one_that_runs_tells_nothing),
        cmocka_unit_test(what_is_cut_or_no_such_text_is_refused),
        cmocka_unit_test(the_call_says_what_a_thread_waits_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
