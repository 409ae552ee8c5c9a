/* When a thread's ticks cost it too much, and when they do no more. */
#include "sampler/capture/threads/overload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { PERIOD_US = 200, TICKS = 100, A_STORM = 60000 };

static bool look(struct load *load, uint32_t queued)
{
    const struct overload_costs costs = { .period_us = PERIOD_US, .queued = queued };

    return overload_look(load, &costs);
}

/* A look's worth of ticks: so far apart, so long in the handler. */
static bool look_after(struct load *load, uint64_t since_us, uint64_t handler_us, uint32_t queued)
{
    for (int i = 0; i < TICKS; i++) {
        overload_tick(load, since_us * 1000, PERIOD_US);
        overload_tick_done(load, handler_us * 1000);
    }
    return look(load, overload_suspected(load) ? queued : 0);
}

static void ticks_in_time_are_left_alone(void **state)
{
    struct load load = { 0 };

    (void)state;
    assert_false(look_after(&load, PERIOD_US, 3, 0));
    assert_false(look_after(&load, PERIOD_US, 3, A_STORM)); /* another process's */
    assert_int_equal(load.slowed, 0);
}

static void long_system_calls_are_no_overload(void **state)
{
    struct load load = { 0 };

    (void)state;
    assert_false(look_after(&load, 25 * PERIOD_US, 3, 10));
}

/* 60,000 signals take the kernel up to 3,600 us where its memory is far: at once, for a thread that
 * gets nowhere answers no second question. */
static void many_queued_signals_make_the_period_longer(void **state)
{
    struct load load = { 0 };

    (void)state;
    assert_true(look_after(&load, (uint64_t)3 * PERIOD_US, 3, A_STORM));
    assert_true((uint64_t)PERIOD_US << load.slowed >= 3600);
    assert_true((uint64_t)PERIOD_US << (load.slowed - 1) < 3600);
    assert_false(look_after(&load, (uint64_t)PERIOD_US << load.slowed, 3, A_STORM));
}

static void a_handler_that_takes_half_of_the_time_is_called_less(void **state)
{
    struct load load = { 0 };

    (void)state;
    assert_false(look_after(&load, PERIOD_US, PERIOD_US / 2 - 1, 0));
    assert_true(look_after(&load, PERIOD_US, PERIOD_US / 2 + 1, 0));
    assert_int_equal(load.slowed, 1);
}

static void slowing_has_an_end(void **state)
{
    struct load load = { 0 };

    (void)state;
    for (int i = 0; i < 20; i++)
        look_after(&load, PERIOD_US, PERIOD_US, 0);
    assert_int_equal(load.slowed, OVERLOAD_SLOWED_MAX);
}

static void the_asked_period_comes_back(void **state)
{
    struct load load = { 0 };
    int looks = 0;

    (void)state;
    look_after(&load, PERIOD_US, PERIOD_US, 0);
    while (load.slowed && looks < 100) {
        looks++;
        look(&load, 0);
    }
    assert_in_range(looks, 2, 20);
}

/* Those that the asked period would have brought. */
static void ticks_left_out_are_told(void **state)
{
    struct load load = { 0 };

    (void)state;
    assert_int_equal(overload_tick(&load, 0, PERIOD_US), 0);
    load.slowed = 3;
    assert_int_equal(overload_tick(&load, 0, PERIOD_US), 7);
}

static const struct overload_costs dear_timers = {
    .period_us = 1000,
    .switch_ns = 6000,
    .tick_us = 4000,
};

/* So many switches a second of CPU time, told again and again, until the period stays. */
static uint32_t slowed_at(uint32_t period_us, struct load *load, uint32_t switches_a_s,
                          uint32_t switch_ns)
{
    struct overload_costs costs = dear_timers;

    costs.period_us = period_us;
    costs.switch_ns = switch_ns;
    for (int i = 0; i < 100; i++) {
        overload_switches(load, load->switches + switches_a_s, load->switches_at_ns + 1000000000);
        overload_look(load, &costs);
    }
    return load->slowed;
}

static uint32_t slowed_by_switches(struct load *load, uint32_t switches_a_s, uint32_t switch_ns)
{
    return slowed_at(1000, load, switches_a_s, switch_ns);
}

static void a_short_period_is_given_up_later(void **state)
{
    struct load load = { 0 };

    (void)state;
    overload_switches(&load, 5, 1);
    assert_int_equal(slowed_at(200, &load, 40000, 6000), 0); /* 24 % */
    assert_int_equal(slowed_at(200, &load, 60000, 6000), 4); /* 35 %, and 22 % at 3.2 ms */
}

static void a_thread_that_switches_often_is_asked_seldom_where_timers_are_dear(void **state)
{
    struct load load = { 0 };

    (void)state;
    overload_switches(&load, 5, 1); /* what was before it was first asked does not count */
    assert_int_equal(slowed_by_switches(&load, 0, 6000), 0);
    assert_int_equal(slowed_by_switches(&load, 20000, 6000), 0);  /* 12 % of its time, less 1/8 */
    assert_int_equal(slowed_by_switches(&load, 35000, 6000), 2);  /* 21 %, and 10 % at 4 ms */
    assert_int_equal(slowed_by_switches(&load, 35000, 300), 0);   /* bare hardware */
    assert_int_equal(slowed_by_switches(&load, 200000, 6000), 5); /* no less than that */
    assert_int_equal(slowed_by_switches(&load, 1000, 6000), 0);
}

/* With its longer period it may get no tick that would tell of better times. */
static void what_is_known_of_switches_grows_old(void **state)
{
    struct load load = { 0 };
    int looks = 0;

    (void)state;
    overload_switches(&load, 5, 1);
    slowed_by_switches(&load, 200000, 6000);
    while (load.slowed && looks < 1000) {
        looks++;
        overload_look(&load, &dear_timers);
    }
    assert_in_range(looks, 30, 500);
}

static void switches_are_counted_once_in_a_while(void **state)
{
    struct load load = { 0 };
    int counted = 0;

    (void)state;
    assert_true(overload_wants_switches(&load));
    for (int i = 0; i < 10 * OVERLOAD_SWITCH_TICKS; i++)
        counted += overload_wants_switches(&load);
    assert_int_equal(counted, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ticks_in_time_are_left_alone),
        cmocka_unit_test(long_system_calls_are_no_overload),
        cmocka_unit_test(many_queued_signals_make_the_period_longer),
        cmocka_unit_test(a_handler_that_takes_half_of_the_time_is_called_less),
        cmocka_unit_test(slowing_has_an_end),
        cmocka_unit_test(the_asked_period_comes_back),
        cmocka_unit_test(ticks_left_out_are_told),
        cmocka_unit_test(a_thread_that_switches_often_is_asked_seldom_where_timers_are_dear),
        cmocka_unit_test(a_short_period_is_given_up_later),
        cmocka_unit_test(what_is_known_of_switches_grows_old),
        cmocka_unit_test(switches_are_counted_once_in_a_while),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
