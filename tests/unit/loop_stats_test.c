#include "sampler/profile/loops/loop_stats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS INT64_C(1000000)

static void add(struct loop_times *times, int64_t ns)
{
    loop_times_add(times, (struct stall_range){ ns, ns });
}

static void times_are_in_the_bucket_of_their_middle(void **state)
{
    struct loop_times times = { 0 };

    (void)state;
    add(&times, 0);
    add(&times, 999);
    add(&times, 1999);
    add(&times, 2000);
    loop_times_add(&times, (struct stall_range){ 0, 8000 });
    add(&times, INT64_MAX / 2);
    assert_int_equal(times.count, 6);
    assert_int_equal(times.buckets[0], 3);
    assert_int_equal(times.buckets[1], 1);
    assert_int_equal(times.buckets[2], 1);
    assert_int_equal(times.buckets[LOOP_BUCKETS - 1], 1);
    assert_int_equal(times.max_ns.max, INT64_MAX / 2);
}

static void a_fraction_is_the_bounds_of_its_bucket(void **state)
{
    struct loop_times times = { 0 };

    (void)state;
    for (int i = 0; i < 98; i++)
        add(&times, 100 * 1000);
    add(&times, 3 * MS);
    add(&times, 9 * MS);
    assert_int_equal(loop_times_at(&times, 0.5).min, 64 * 1000);
    assert_int_equal(loop_times_at(&times, 0.5).max, 128 * 1000);
    assert_int_equal(loop_times_at(&times, 0.99).min, 2048 * 1000);
    /* The longest of all bounds them. */
    assert_int_equal(loop_times_at(&times, 1).min, 8192 * 1000);
    assert_int_equal(loop_times_at(&times, 1).max, 9 * MS);
}

static void nothing_was_counted(void **state)
{
    const struct loop_times times = { 0 };

    (void)state;
    assert_int_equal(loop_times_at(&times, 0.5).max, 0);
}

static void short_ones_wait_for_a_look_that_met_one(void **state)
{
    const struct loop_shorts unmet = { 100, 100, 0 }, met = { 100, 100, 4 * MS };
    struct loop_stats stats = { 0 };
    struct loop_info info = { 0 };

    (void)state;
    loop_stats_shorts(&stats, &unmet, 1000 * MS);
    loop_stats_shorts(&stats, &unmet, 3000 * MS);
    assert_int_equal(stats.dispatch.count, 0);
    loop_stats_shorts(&stats, &met, 3500 * MS);
    assert_int_equal(stats.dispatch.count, 300);
    assert_int_equal(stats.dispatch.sum_ns, 4 * MS);
    assert_int_equal(stats.dispatch.buckets[3], 300); /* 13 us */
    loop_stats_shorts(&stats, &unmet, 3600 * MS);
    loop_stats_tell(&stats, &info);
    assert_int_equal(info.dispatches, 400);
    assert_int_equal(info.dispatch.count, 400);
}

static void blocking_is_what_they_took_beyond_the_jank_limit(void **state)
{
    struct loop_stats stats = { 0 };

    (void)state;
    loop_stats_ended(&stats, (struct stall_range){ 40 * MS, 40 * MS }, STALL_LEVEL_COUNT, 50 * MS);
    loop_stats_ended(&stats, (struct stall_range){ 60 * MS, 60 * MS }, STALL_LEVEL_JANK, 50 * MS);
    loop_stats_ended(&stats, (struct stall_range){ 298 * MS, 302 * MS }, STALL_LEVEL_STALL,
                     50 * MS);
    assert_int_equal(stats.blocking_ns, 260 * MS);
    assert_int_equal(stats.levels[STALL_LEVEL_JANK], 1);
    assert_int_equal(stats.levels[STALL_LEVEL_STALL], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_in_the_bucket_of_their_middle),
        cmocka_unit_test(a_fraction_is_the_bounds_of_its_bucket),
        cmocka_unit_test(nothing_was_counted),
        cmocka_unit_test(short_ones_wait_for_a_look_that_met_one),
        cmocka_unit_test(blocking_is_what_they_took_beyond_the_jank_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
