/* When a thread's ticks cost it too much, and when they do no more. */
#include "sampler/capture/overload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { PERIOD_US = 200, TICKS = 100 };

/* A look's worth of ticks: other_registers after so many, since_us apart, so long in the handler.
 */
static bool look_after(struct load *load, int other_registers, uint64_t since_us,
                       uint64_t handler_us)
{
    for (int i = 0; i < TICKS; i++) {
        overload_tick(load, (uint64_t)(1 + i / other_registers), since_us * 1000, PERIOD_US);
        overload_tick_done(load, handler_us * 1000);
    }
    return overload_look(load);
}

static void a_thread_that_comes_on_keeps_its_period(void **state)
{
    struct load load = { 0 };

    (void)state;
    assert_false(look_after(&load, 1, PERIOD_US, 3));
    assert_false(look_after(&load, 1, 25 * PERIOD_US, 3)); /* long system calls */
    assert_false(look_after(&load, 2, 2 * PERIOD_US, 3)); /* half of the ticks at most are futile */
    assert_int_equal(load.slowed, 0);
}

/* A loop of short system calls has the same registers at each: it is not late. */
static void equal_registers_in_time_are_no_matter(void **state)
{
    struct load load = { 0 };

    (void)state;
    assert_false(look_after(&load, TICKS, PERIOD_US, 3));
}

static void a_thread_that_gets_nowhere_is_slowed_until_it_does(void **state)
{
    struct load load = { 0 };

    (void)state;
    assert_true(look_after(&load, TICKS, 3 * PERIOD_US, 3));
    assert_int_equal(load.slowed, 1);
    assert_true(look_after(&load, TICKS, 3 * PERIOD_US, 3));
    assert_int_equal(load.slowed, 2);
    assert_false(look_after(&load, TICKS, 3 * PERIOD_US, 3)); /* less than the period of now */
    assert_int_equal(load.slowed, 2);
}

static void a_handler_that_takes_half_of_the_time_is_called_less(void **state)
{
    struct load load = { 0 };

    (void)state;
    assert_false(look_after(&load, 1, PERIOD_US, PERIOD_US / 2 - 1));
    assert_true(look_after(&load, 1, PERIOD_US, PERIOD_US / 2 + 1));
    assert_int_equal(load.slowed, 1);
}

static void slowing_has_an_end(void **state)
{
    struct load load = { 0 };

    (void)state;
    for (int i = 0; i < 20; i++)
        look_after(&load, 1, PERIOD_US, PERIOD_US);
    assert_int_equal(load.slowed, OVERLOAD_SLOWED_MAX);
}

static void the_asked_period_comes_back(void **state)
{
    struct load load = { 0 };
    int looks = 0;

    (void)state;
    look_after(&load, 1, PERIOD_US, PERIOD_US);
    while (load.slowed && looks < 100) {
        looks++;
        overload_look(&load);
    }
    assert_in_range(looks, 2, 20);
}

/* Those that the asked period would have brought. */
static void ticks_left_out_are_told(void **state)
{
    struct load load = { 0 };

    (void)state;
    assert_int_equal(overload_tick(&load, 1, 0, PERIOD_US), 0);
    load.slowed = 3;
    assert_int_equal(overload_tick(&load, 2, 0, PERIOD_US), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_that_comes_on_keeps_its_period),
        cmocka_unit_test(equal_registers_in_time_are_no_matter),
        cmocka_unit_test(a_thread_that_gets_nowhere_is_slowed_until_it_does),
        cmocka_unit_test(a_handler_that_takes_half_of_the_time_is_called_less),
        cmocka_unit_test(slowing_has_an_end),
        cmocka_unit_test(the_asked_period_comes_back),
        cmocka_unit_test(ticks_left_out_are_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
