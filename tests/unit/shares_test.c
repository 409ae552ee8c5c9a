/* What a thread did between two looks of wall mode, by the kernel's clocks of it. */
#include "sampler/profile/wall/shares.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define MS INT64_C(1000000)
enum { TICK_MS = 4, MANY = 1000 };

struct told {
    uint32_t counts[SHARE_COUNT];
};

static void take(struct shares *shares, struct told *told, bool awake)
{
    uint32_t counts[SHARE_COUNT];

    shares_take(shares, MS, MANY, awake, counts);
    for (int share = 0; share < SHARE_COUNT; share++)
        told->counts[share] += counts[share];
}

static void look(struct shares *shares, struct told *told, struct thread_clock clock,
                 int64_t now_ns, bool awake)
{
    shares_look(shares, &clock, now_ns, TICK_MS * MS, awake);
    take(shares, told, awake);
}

static void assert_told(const struct told *told, uint32_t run, uint32_t wait, uint32_t sleep)
{
    assert_in_range(told->counts[SHARE_RUN], run ? run - 1 : 0, run + 1);
    assert_in_range(told->counts[SHARE_WAIT], wait ? wait - 1 : 0, wait + 1);
    assert_in_range(told->counts[SHARE_SLEEP], sleep ? sleep - 1 : 0, sleep + 1);
}

static struct shares begun(struct told *told, bool awake)
{
    const struct thread_clock clock = { 7 * MS, 3 * MS, 5 };
    struct shares shares;

    memset(told, 0, sizeof(*told));
    shares_begin(&shares, &clock, 100 * MS, 0, awake);
    return shares;
}

static void the_kernels_three_numbers_are_read_and_nothing_else(void **state)
{
    struct thread_clock clock;

    (void)state;
    assert_true(thread_clock_parse("96474899 41601601 147\n", &clock));
    assert_int_equal(clock.run_ns, 96474899);
    assert_int_equal(clock.wait_ns, 41601601);
    assert_int_equal(clock.slices, 147);
    assert_false(thread_clock_parse("0 0 0\n", &clock)); /* a kernel without these clocks */
    assert_false(thread_clock_parse("1 2\n", &clock));
    assert_false(thread_clock_parse("", &clock));
    assert_false(thread_clock_parse("-1 2 3\n", &clock));
}

static void a_sleeper_sleeps_in_every_round_also_when_they_come_late(void **state)
{
    struct told told;
    struct shares shares = begun(&told, false);

    (void)state;
    for (int64_t ms = 1; ms <= 10; ms++)
        look(&shares, &told, shares.clock, (100 + ms) * MS, false);
    assert_told(&told, 0, 0, 10);
    look(&shares, &told, shares.clock, 610 * MS, false);
    assert_told(&told, 0, 0, 510);
}

/* It is met asleep each time, and ran 0.3 ms of each. */
static void one_that_is_always_met_asleep_has_run_as_long_as_its_clock_says(void **state)
{
    struct told told;
    struct shares shares = begun(&told, false);

    (void)state;
    for (int64_t ms = 1; ms <= 100; ms++) {
        struct thread_clock clock = shares.clock;

        clock.run_ns += 3 * MS / 10;
        clock.slices++;
        look(&shares, &told, clock, (100 + ms) * MS, false);
    }
    assert_told(&told, 30, 0, 70);
}

/* The kernel adds to its clock at each tick only: in between it is seen awake, and that it runs is
 * a guess that comes true. */
static void one_that_runs_has_run_in_every_round_between_two_ticks(void **state)
{
    struct told told;
    struct shares shares = begun(&told, true);

    (void)state;
    for (int64_t ms = 1; ms <= 100; ms++) {
        struct thread_clock clock = shares.clock;

        if (ms % TICK_MS == 0)
            clock.run_ns += TICK_MS * MS;
        look(&shares, &told, clock, (100 + ms) * MS, true);
        assert_in_range(told.counts[SHARE_SLEEP], 0, 1);
    }
    assert_told(&told, 100, 0, 0);
}

/* Woken it gets no processor for long: the clock says so when it is over, and until then it is
 * seen. */
static void one_that_waits_for_a_processor_did_not_sleep(void **state)
{
    struct told told;
    struct shares shares = begun(&told, false);
    struct thread_clock clock = shares.clock;

    (void)state;
    for (int64_t ms = 1; ms <= 50; ms++)
        look(&shares, &told, clock, (100 + ms) * MS, true);
    assert_told(&told, 0, 50, 0);
    clock.wait_ns += 50 * MS;
    clock.slices++;
    clock.run_ns += 1 * MS;
    look(&shares, &told, clock, 151 * MS, false);
    assert_told(&told, 1, 50, 0);
}

/* Nobody looked while it waited: what was told of it meanwhile is made up for. */
static void what_was_taken_for_sleep_is_made_up_for(void **state)
{
    struct told told;
    struct shares shares = begun(&told, false);
    struct thread_clock clock = shares.clock;

    (void)state;
    for (int64_t ms = 1; ms <= 20; ms++)
        look(&shares, &told, clock, (100 + ms) * MS, false);
    clock.wait_ns += 10 * MS;
    clock.slices++;
    for (int64_t ms = 21; ms <= 40; ms++)
        look(&shares, &told, clock, (100 + ms) * MS, false);
    assert_told(&told, 0, 10, 30);
}

static void rounds_that_are_given_back_are_due_again(void **state)
{
    struct told told;
    struct shares shares = begun(&told, false);

    (void)state;
    shares_look(&shares, &shares.clock, 105 * MS, TICK_MS * MS, false);
    take(&shares, &told, false);
    assert_told(&told, 0, 0, 5);
    take(&shares, &told, false);
    assert_int_equal(told.counts[SHARE_SLEEP], 5);
    shares_give_back(&shares, SHARE_SLEEP, 5, MS);
    take(&shares, &told, false);
    assert_int_equal(told.counts[SHARE_SLEEP], 10);
    shares_give_back(&shares, SHARE_SLEEP, 5, MS);
    assert_int_equal(shares_drop(&shares, MS), 5);
    assert_int_equal(shares_drop(&shares, MS), 0);
}

static void a_young_thread_is_told_from_its_beginning(void **state)
{
    const struct thread_clock clock = { 2 * MS, 1 * MS, 1 };
    struct told told = { { 0 } };
    struct shares shares;

    (void)state;
    shares_begin(&shares, &clock, 100 * MS, 10 * MS, false);
    take(&shares, &told, false);
    assert_told(&told, 2, 1, 7);
    /* Its clocks are older than the sampler: they are no part of this time. */
    memset(&told, 0, sizeof(told));
    shares_begin(&shares, &(struct thread_clock){ 900 * MS, 50 * MS, 9 }, 100 * MS, 1 * MS, true);
    take(&shares, &told, true);
    assert_int_equal(told.counts[SHARE_RUN], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_kernels_three_numbers_are_read_and_nothing_else),
        cmocka_unit_test(a_sleeper_sleeps_in_every_round_also_when_they_come_late),
        cmocka_unit_test(one_that_is_always_met_asleep_has_run_as_long_as_its_clock_says),
        cmocka_unit_test(one_that_runs_has_run_in_every_round_between_two_ticks),
        cmocka_unit_test(one_that_waits_for_a_processor_did_not_sleep),
        cmocka_unit_test(what_was_taken_for_sleep_is_made_up_for),
        cmocka_unit_test(rounds_that_are_given_back_are_due_again),
        cmocka_unit_test(a_young_thread_is_told_from_its_beginning),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
