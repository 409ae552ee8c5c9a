#include "sampler/profile/loops/ping.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS INT64_C(1000000)

static void a_thread_that_rests_is_not_asked(void **state)
{
    const struct thread_clock clock = { .run_ns = 5 * MS, .slices = 9 };
    struct ping ping = { 0 };

    (void)state;
    for (int i = 1; i < 100; i++)
        assert_false(ping_is_due(&ping, &clock, i * 50 * MS));
}

static void one_that_has_run_is_asked_once_until_it_answers(void **state)
{
    struct thread_clock clock = { .run_ns = 5 * MS, .slices = 9 };
    struct ping ping = { 0 };

    (void)state;
    assert_false(ping_is_due(&ping, &clock, 50 * MS));
    clock.slices++;
    clock.run_ns += 1000;
    assert_true(ping_is_due(&ping, &clock, 100 * MS));
    ping_ask(&ping, 100 * MS);
    assert_int_equal(ping_mark(&ping), 1);
    assert_int_equal(ping_next_ns(&ping, 50 * MS), 150 * MS);
    assert_false(ping_answered(&ping, 1, 0, 0, 0));
    assert_false(ping.posted);
    assert_false(ping_answered(&ping, 1, 1, 0, 0));
    assert_true(ping.posted);
    clock.slices += 5;
    clock.run_ns += 20 * MS;
    assert_false(ping_is_due(&ping, &clock, 200 * MS));
    assert_true(ping_answered(&ping, 1, 1, 1, 0));
    assert_int_equal(ping_mark(&ping), 2);
}

/* It answers and goes back to sleep: that is no reason to ask again. */
static void its_answer_alone_is_no_run(void **state)
{
    struct thread_clock clock = { .run_ns = 5 * MS, .slices = 9 };
    struct ping ping = { 0 };

    (void)state;
    ping_ask(&ping, 0);
    assert_true(ping_answered(&ping, 1, 1, 1, 0));
    ping_rests(&ping, &clock);
    clock.run_ns += MS / 10;
    assert_false(ping_is_due(&ping, &clock, 50 * MS));
    clock.run_ns += 50 * MS;
    assert_true(ping_is_due(&ping, &clock, 100 * MS));
}

/* The thread is asked each 50 ms at most: what is late may have begun before it was asked. */
static void what_is_late_began_since_the_last_rest_or_answer(void **state)
{
    struct thread_clock clock = { .run_ns = 5 * MS, .slices = 9 };
    struct ping ping = { 0 };

    (void)state;
    assert_false(ping_is_due(&ping, &clock, 50 * MS));
    clock.slices++;
    clock.run_ns += 40 * MS;
    assert_true(ping_is_due(&ping, &clock, 100 * MS));
    ping_ask(&ping, 100 * MS);
    assert_int_equal(ping_began(&ping, 101 * MS).min, 49 * MS);
    assert_int_equal(ping_began(&ping, 101 * MS).max, 101 * MS);
    assert_true(ping_answered(&ping, 1, 1, 1, 300 * MS));
    ping_ask(&ping, 350 * MS);
    assert_int_equal(ping_began(&ping, 350 * MS).min, 300 * MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_that_rests_is_not_asked),
        cmocka_unit_test(one_that_has_run_is_asked_once_until_it_answers),
        cmocka_unit_test(its_answer_alone_is_no_run),
        cmocka_unit_test(what_is_late_began_since_the_last_rest_or_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
