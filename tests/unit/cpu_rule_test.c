#include "sampler/profile/loops/cpu_rule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define SECOND INT64_C(1000000000)

/* What uses so much of a processor, and is asked each 50 ms. */
struct user {
    struct cpu_rule rule;
    struct cpu_use use;
    int64_t now_ns;
    uint64_t cpu_ns;
    uint32_t told;
};

static void use(struct user *user, uint32_t permille, int64_t seconds)
{
    for (int64_t i = 0; i < seconds * 20; i++) {
        user->now_ns += SECOND / 20;
        user->cpu_ns += SECOND / 20 / 1000 * permille;
        user->told += cpu_rule_feed(&user->rule, user->cpu_ns, user->now_ns, &user->use);
    }
}

static void a_minute_above_eighty_percent_is_told(void **state)
{
    struct user user = { .now_ns = SECOND };

    (void)state;
    use(&user, 100, 30);
    use(&user, 900, 58);
    assert_int_equal(user.told, 0);
    use(&user, 900, 4);
    assert_int_equal(user.told, 1);
    assert_in_range(user.use.permille, 880, 900);
    assert_in_range(user.use.to_ns - user.use.from_ns, 60 * SECOND, 62 * SECOND);
}

static void below_it_nothing_is(void **state)
{
    struct user user = { .now_ns = SECOND };

    (void)state;
    use(&user, 790, 1000);
    assert_int_equal(user.told, 0);
}

static void a_pause_that_brings_the_average_below_half_of_it_begins_anew(void **state)
{
    struct user user = { .now_ns = SECOND };

    (void)state;
    use(&user, 1000, 20);
    use(&user, 0, 35);
    use(&user, 1000, 55);
    assert_int_equal(user.told, 0);
    use(&user, 1000, 8);
    assert_int_equal(user.told, 1);
}

static void a_short_pause_is_part_of_the_average(void **state)
{
    struct user user = { .now_ns = SECOND };

    (void)state;
    use(&user, 1000, 30);
    use(&user, 0, 5);
    use(&user, 1000, 28);
    assert_int_equal(user.told, 1);
    assert_in_range(user.use.permille, 880, 950);
}

static void once_told_it_is_mute_for_a_minute(void **state)
{
    struct user user = { .now_ns = SECOND };

    (void)state;
    use(&user, 1000, 65);
    assert_int_equal(user.told, 1);
    use(&user, 1000, 110);
    assert_int_equal(user.told, 1);
    use(&user, 1000, 15);
    assert_int_equal(user.told, 2);
}

static void four_threads_are_four_processors(void **state)
{
    struct user user = { .now_ns = SECOND };

    (void)state;
    use(&user, 4000, 65);
    assert_int_equal(user.told, 1);
    assert_in_range(user.use.permille, 3900, 4000);
}

static void a_clock_that_goes_back_begins_anew(void **state)
{
    struct user user = { .now_ns = SECOND };

    (void)state;
    use(&user, 1000, 50);
    user.cpu_ns = 0;
    use(&user, 1000, 50);
    assert_int_equal(user.told, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_minute_above_eighty_percent_is_told),
        cmocka_unit_test(below_it_nothing_is),
        cmocka_unit_test(a_pause_that_brings_the_average_below_half_of_it_begins_anew),
        cmocka_unit_test(a_short_pause_is_part_of_the_average),
        cmocka_unit_test(once_told_it_is_mute_for_a_minute),
        cmocka_unit_test(four_threads_are_four_processors),
        cmocka_unit_test(a_clock_that_goes_back_begins_anew),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
