/* Threads that are about to exec, and the sampler's thread that stops their timers. */
#include "sampler/capture/threads/rests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { TID = 4711, OTHER_TID = 4712 };

static const struct timespec at_once = { 0, 0 };

static enum rest_state state_of(const struct rest *rest)
{
    int32_t tid;

    return rests_state(rest, &tid);
}

static void a_timer_that_is_asked_to_rest_is_held_until_the_end(void **state)
{
    struct rests rests = { 0 };
    struct rest *rest = rests_ask(&rests, TID);

    (void)state;
    assert_non_null(rest);
    assert_true(rests_hold(&rests, TID));
    assert_false(rests_hold(&rests, OTHER_TID));
    assert_true(rests_look(&rests));
    assert_false(rests_look(&rests));
    assert_false(rests_wait(rest, &at_once));
    rests_answer(rest, TID);
    assert_true(rests_wait(rest, &at_once));
    assert_true(rests_hold(&rests, TID));
    assert_true(rests_end(&rests, rest));
    assert_false(rests_hold(&rests, TID));
    assert_true(rests_look(&rests));
    assert_true(rests_drop(rest, TID));
    assert_int_equal(state_of(rest), REST_NONE);
}

static void who_asks_again_before_its_place_is_given_back_keeps_it(void **state)
{
    struct rests rests = { 0 };
    struct rest *rest = rests_ask(&rests, TID);

    (void)state;
    rests_answer(rest, TID);
    rests_end(&rests, rest);
    assert_ptr_equal(rests_ask(&rests, TID), rest);
    assert_false(rests_drop(rest, TID));
    assert_true(rests_hold(&rests, TID));
    assert_false(rests_wait(rest, &at_once)); /* the answer was the first one's */
}

static void an_answer_that_comes_too_late_is_nobodys(void **state)
{
    struct rests rests = { 0 };
    struct rest *rest = rests_ask(&rests, TID);

    (void)state;
    rests_end(&rests, rest);
    rests_drop(rest, TID);
    assert_ptr_equal(rests_ask(&rests, OTHER_TID), rest);
    rests_answer(rest, TID);
    assert_false(rests_wait(rest, &at_once));
    assert_int_equal(state_of(rest), REST_ASKED);
}

static void an_exec_in_a_handler_within_an_exec_ends_nothing(void **state)
{
    struct rests rests = { 0 };
    struct rest *outer = rests_ask(&rests, TID);

    (void)state;
    rests_answer(outer, TID);
    assert_ptr_equal(rests_ask(&rests, TID), outer);
    assert_true(rests_wait(outer, &at_once));
    assert_false(rests_end(&rests, outer));
    assert_true(rests_hold(&rests, TID));
    assert_true(rests_end(&rests, outer));
    assert_false(rests_hold(&rests, TID));
}

static void one_more_than_there_are_places_is_told_so(void **state)
{
    static struct rests rests;

    (void)state;
    for (int i = 0; i < RESTS_MAX; i++)
        assert_non_null(rests_ask(&rests, TID + i));
    assert_null(rests_ask(&rests, TID + RESTS_MAX));
    assert_false(rests_hold(&rests, TID + RESTS_MAX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_timer_that_is_asked_to_rest_is_held_until_the_end),
        cmocka_unit_test(who_asks_again_before_its_place_is_given_back_keeps_it),
        cmocka_unit_test(an_answer_that_comes_too_late_is_nobodys),
        cmocka_unit_test(an_exec_in_a_handler_within_an_exec_ends_nothing),
        cmocka_unit_test(one_more_than_there_are_places_is_told_so),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
