#include "sampler/profile/stalls/annealing.h"

#include "sampler/profile/stalls/limits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { S = 1000000000 };
static const int64_t day_ns = INT64_C(24) * 3600 * S;

static void one_stack_is_told_after_ever_more_periods(void **state)
{
    static const int64_t told_s[] = { 1, 3, 6, 11, 19, 32, 53, 87, 142, 202, 262 };
    struct annealing annealing;
    size_t told = 0;

    (void)state;
    annealing_begin(&annealing, 0);
    for (int64_t second = 1; second <= 262; second++)
        if (annealing_again(&annealing, second * S, S, true)) {
            assert_true(told < sizeof(told_s) / sizeof(*told_s));
            assert_int_equal(second, told_s[told++]);
        }
    assert_int_equal(told, sizeof(told_s) / sizeof(*told_s));
}

static void another_stack_is_told_at_once_and_begins_anew(void **state)
{
    struct annealing annealing;

    (void)state;
    annealing_begin(&annealing, 0);
    assert_true(annealing_again(&annealing, 1 * (int64_t)S, S, true));
    assert_true(annealing_again(&annealing, 3 * (int64_t)S, S, true));
    assert_true(annealing_again(&annealing, 4 * (int64_t)S, S, false));
    assert_true(annealing_again(&annealing, 5 * (int64_t)S, S, true));
    assert_false(annealing_again(&annealing, 6 * (int64_t)S, S, true));
}

static void of_a_thousand_equal_stalls_the_fibonacci_ones_are_told(void **state)
{
    static const uint32_t fibonacci[] = {
        1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987
    };
    size_t told = 0;

    (void)state;
    for (uint32_t equals = 1; equals <= 1000; equals++)
        if (annealing_tells(equals))
            assert_int_equal(equals, fibonacci[told++]);
    assert_int_equal(told, 15);
}

static int open_limits(void **state)
{
    *state = calloc(1, sizeof(struct limits));
    return *state ? 0 : -1;
}

static int close_limits(void **state)
{
    free(*state);
    return 0;
}

/* Within a day ten of one stack are told, and no more. */
static void a_thousand_equal_stalls_of_a_day_are_told_ten_times(void **state)
{
    struct limits *limits = *state;
    uint32_t verdicts[4] = { 0 };

    for (uint32_t i = 1; i <= 1000; i++) {
        struct limits_answer answer = limits_count(limits, 1, 42, i * (int64_t)S, false);

        assert_int_equal(answer.equals, i);
        verdicts[answer.verdict]++;
    }
    assert_int_equal(verdicts[LIMITS_TOLD], LIMITS_STACK_DAY);
    assert_int_equal(verdicts[LIMITS_STACK_FULL], 5);
    assert_int_equal(verdicts[LIMITS_ANNEALED], 985);
}

static void the_next_day_they_are_told_again(void **state)
{
    struct limits *limits = *state;

    for (uint32_t i = 1; i < 144; i++)
        limits_count(limits, 1, 42, i, false);
    assert_int_equal(limits_count(limits, 1, 42, day_ns + 2, false).verdict, LIMITS_TOLD);
}

static void a_hundred_stalls_of_a_loop_are_told_in_a_day(void **state)
{
    struct limits *limits = *state;

    for (uint32_t i = 0; i < LIMITS_LOOP_DAY; i++)
        assert_int_equal(limits_count(limits, 1, i + 1, i, false).verdict, LIMITS_TOLD);
    assert_int_equal(limits_count(limits, 1, 1000, 1000, false).verdict, LIMITS_LOOP_FULL);
    assert_int_equal(limits_count(limits, 2, 1000, 1000, false).verdict, LIMITS_TOLD);
    assert_int_equal(limits_count(limits, 1, 1001, day_ns, false).verdict, LIMITS_TOLD);
}

static void loops_do_not_share_their_stacks(void **state)
{
    struct limits *limits = *state;

    assert_int_equal(limits_count(limits, 1, 42, 1, false).equals, 1);
    assert_int_equal(limits_count(limits, 2, 42, 2, false).equals, 1);
    assert_int_equal(limits_count(limits, 1, 42, 3, false).equals, 2);
}

/* One that was told when it began is told at its end. */
static void what_was_told_before_is_told_whatever_the_limits_say(void **state)
{
    struct limits *limits = *state;

    for (uint32_t i = 0; i < 20; i++)
        assert_int_equal(limits_count(limits, 1, 42, i, true).verdict, LIMITS_TOLD);
    assert_int_equal(limits_count(limits, 1, 42, 20, false).verdict, LIMITS_STACK_FULL);
    assert_int_equal(limits_count(limits, 1, 43, 20, false).verdict, LIMITS_TOLD);
}

static void what_is_foreseen_is_what_is_counted(void **state)
{
    struct limits *limits = *state;

    for (uint32_t i = 0; i < 300; i++) {
        struct limits_answer foreseen = limits_foresee(limits, 1, 42, i);
        struct limits_answer again = limits_foresee(limits, 1, 42, i);
        struct limits_answer counted = limits_count(limits, 1, 42, i, false);

        assert_int_equal(foreseen.equals, counted.equals);
        assert_int_equal(foreseen.verdict, counted.verdict);
        assert_int_equal(again.equals, counted.equals);
    }
}

/* Stalls that end each with another stack, but begin with one: the beginning anneals. */
static void stalls_that_begin_with_one_stack_are_equal_while_they_go_on(void **state)
{
    struct limits *limits = *state;
    uint32_t told = 0;

    for (uint32_t i = 1; i <= 50; i++) {
        bool begins = limits_foresee(limits, 1, 42, i).verdict == LIMITS_TOLD;

        told += begins;
        limits_count(limits, 1, 1000 + i, i, begins);
        limits_count_begun(limits, 1, 42, i, begins);
    }
    assert_int_equal(told, 8); /* 1, 2, 3, 5, 8, 13, 21, 34 */
}

static void who_was_not_met_for_the_longest_time_is_forgotten(void **state)
{
    struct limits *limits = *state;

    for (uint32_t i = 0; i <= LIMITS_STACKS_MAX; i++)
        limits_count(limits, 1, i + 1, i, false);
    assert_int_equal(limits_count(limits, 1, 3, LIMITS_STACKS_MAX + 1, false).equals, 2);
    assert_int_equal(limits_count(limits, 1, 1, LIMITS_STACKS_MAX + 2, false).equals, 1);
}

static void a_loop_that_is_forgotten_begins_anew(void **state)
{
    struct limits *limits = *state;

    limits_count(limits, 1, 42, 1, false);
    limits_count(limits, 2, 42, 1, false);
    limits_forget(limits, 1);
    assert_int_equal(limits_count(limits, 1, 42, 2, false).equals, 1);
    assert_int_equal(limits_count(limits, 2, 42, 2, false).equals, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_limits, close_limits)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_stack_is_told_after_ever_more_periods),
        cmocka_unit_test(another_stack_is_told_at_once_and_begins_anew),
        cmocka_unit_test(of_a_thousand_equal_stalls_the_fibonacci_ones_are_told),
        TEST(a_thousand_equal_stalls_of_a_day_are_told_ten_times),
        TEST(the_next_day_they_are_told_again),
        TEST(a_hundred_stalls_of_a_loop_are_told_in_a_day),
        TEST(loops_do_not_share_their_stacks),
        TEST(what_was_told_before_is_told_whatever_the_limits_say),
        TEST(what_is_foreseen_is_what_is_counted),
        TEST(stalls_that_begin_with_one_stack_are_equal_while_they_go_on),
        TEST(who_was_not_met_for_the_longest_time_is_forgotten),
        TEST(a_loop_that_is_forgotten_begins_anew),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
