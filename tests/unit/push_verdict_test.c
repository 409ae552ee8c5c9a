#include "server/push/push_verdict.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void trouble_of_the_engine_is_no_verdict_on_a_profile(void **state)
{
    static const long again[] = { 0, 408, 425, 429, 500, 502, 503, 504, 599 };
    static const long refused[] = { 100, 301, 302, 307, 400, 401, 403, 404, 413, 422 };

    (void)state;
    assert_int_equal(push_verdict(200), PUSH_SENT);
    assert_int_equal(push_verdict(204), PUSH_SENT);
    for (size_t i = 0; i < sizeof(again) / sizeof(again[0]); i++)
        assert_int_equal(push_verdict(again[i]), PUSH_AGAIN);
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        assert_int_equal(push_verdict(refused[i]), PUSH_REFUSED);
}

static void waits_double_to_a_minute_less_half_of_it_by_chance(void **state)
{
    (void)state;
    assert_int_equal(push_wait_ms(1, 0, 0), 1000);
    assert_int_equal(push_wait_ms(2, 0, 0), 2000);
    assert_int_equal(push_wait_ms(3, 0, 0), 4000);
    assert_int_equal(push_wait_ms(7, 0, 0), PUSH_WAIT_MS_MAX);
    assert_int_equal(push_wait_ms(100000, 0, 0), PUSH_WAIT_MS_MAX);
    for (uint32_t random = 0; random < 5000; random++)
        assert_in_range(push_wait_ms(3, 0, random), 2000, 4000);
}

static void the_engine_may_ask_for_more_and_not_for_ever(void **state)
{
    (void)state;
    assert_int_equal(push_wait_ms(1, 7, 0), 7000);
    assert_int_equal(push_wait_ms(7, 1, 0), PUSH_WAIT_MS_MAX);
    assert_int_equal(push_wait_ms(1, -5, 0), 1000);
    assert_int_equal(push_wait_ms(1, 1L << 40, 0), PUSH_RETRY_AFTER_S_MAX * 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trouble_of_the_engine_is_no_verdict_on_a_profile),
        cmocka_unit_test(waits_double_to_a_minute_less_half_of_it_by_chance),
        cmocka_unit_test(the_engine_may_ask_for_more_and_not_for_ever),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
