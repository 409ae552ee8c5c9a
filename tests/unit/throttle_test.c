/* When a thread's ticks cost it too much, and when they do no more. */
#include "sampler/capture/threads/throttle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { PERIOD_US = 200, TICKS = 100 };

/* A look's worth of ticks, so long in the handler. */
static uint32_t look_after(struct throttle *throttle, uint64_t handler_us)
{
    for (int i = 0; i < TICKS; i++)
        throttle_tick(throttle, PERIOD_US * 1000, handler_us * 1000);
    throttle_look(throttle);
    return throttle->shift;
}

static void ticks_that_cost_little_are_left_alone(void **state)
{
    struct throttle throttle = { 0 };

    (void)state;
    assert_int_equal(look_after(&throttle, 3), 0);
}

static void a_handler_that_takes_half_of_the_time_is_called_less(void **state)
{
    struct throttle throttle = { 0 };

    (void)state;
    assert_int_equal(look_after(&throttle, PERIOD_US / 2 - 1), 0);
    assert_int_equal(look_after(&throttle, PERIOD_US / 2 + 1), 1);
}

static void slowing_has_an_end(void **state)
{
    struct throttle throttle = { 0 };

    (void)state;
    for (int i = 0; i < 20; i++)
        look_after(&throttle, PERIOD_US);
    assert_int_equal(throttle.shift, THROTTLE_SHIFT_MAX);
}

static void the_asked_period_comes_back(void **state)
{
    struct throttle throttle = { 0 };
    int looks = 0;

    (void)state;
    look_after(&throttle, PERIOD_US);
    while (throttle.shift && looks < 100) {
        looks++;
        throttle_look(&throttle);
    }
    assert_in_range(looks, 2, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ticks_that_cost_little_are_left_alone),
        cmocka_unit_test(a_handler_that_takes_half_of_the_time_is_called_less),
        cmocka_unit_test(slowing_has_an_end),
        cmocka_unit_test(the_asked_period_comes_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
