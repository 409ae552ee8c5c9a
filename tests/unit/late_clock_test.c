#include "sampler/profile/loops/late_clock.h"

#include "sampler/profile/loops/task_stat.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS INT64_C(1000000)
enum { TICK_MS = 4, STEP_MS = 5 };

/* A thread whose clocks the test sets, looked at each STEP_MS. */
struct fixture {
    struct late_clock clock;
    struct thread_clock now;
    int64_t now_ns;
};

static void begin(struct fixture *fixture)
{
    *fixture = (struct fixture){ .now = { 700 * MS, 80 * MS, 9 }, .now_ns = 1000 * MS };
    late_clock_begin(&fixture->clock, &fixture->now, fixture->now_ns);
}

/* So much of the step the clocks have told. Returns how much more it slept. */
static uint64_t step(struct fixture *fixture, uint64_t run_ms, uint64_t wait_ms, bool awake)
{
    fixture->now_ns += STEP_MS * MS;
    fixture->now.run_ns += run_ms * MS;
    fixture->now.wait_ns += wait_ms * MS;
    return late_clock_look(&fixture->clock, &fixture->now, fixture->now_ns, TICK_MS * MS, awake);
}

static void assert_ms(const struct fixture *fixture, uint64_t run, uint64_t wait, uint64_t sleep)
{
    assert_int_equal(fixture->clock.running_ns / MS, run);
    assert_int_equal(fixture->clock.runnable_ns / MS, wait);
    assert_int_equal(fixture->clock.sleeping_ns / MS, sleep);
}

static void what_a_sleeper_clocks_do_not_tell_it_slept(void **state)
{
    struct fixture fixture;

    (void)state;
    begin(&fixture);
    assert_int_equal(step(&fixture, 1, 1, false) / MS, 3);
    assert_ms(&fixture, 1, 1, 3);
    assert_int_equal(step(&fixture, 0, 0, false) / MS, 5);
    assert_ms(&fixture, 1, 1, 8);
}

/* The kernel adds to its clock in its tick: the rest of a tick is no sleep. */
static void a_running_thread_does_not_sleep_between_ticks(void **state)
{
    struct fixture fixture;

    (void)state;
    begin(&fixture);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(step(&fixture, i % 4 < 3 ? 4 : 8, 0, true), 0);
        assert_ms(&fixture, 5 * (uint64_t)(i + 1), 0, 0);
    }
}

/* One that sleeps a little between two looks, both of which meet it awake. */
static void what_the_clocks_never_tell_was_sleep(void **state)
{
    struct fixture fixture;

    (void)state;
    begin(&fixture);
    for (int i = 0; i < 100; i++)
        step(&fixture, 3, 0, true);
    assert_in_range(fixture.clock.sleeping_ns, 190 * MS, 200 * MS);
    assert_in_range(fixture.clock.running_ns, 300 * MS, 310 * MS);
}

/* Its wait is told when it is over. */
static void an_awake_thread_whose_clocks_stand_waits_for_a_processor(void **state)
{
    struct fixture fixture;

    (void)state;
    begin(&fixture);
    step(&fixture, 5, 0, true);
    for (int i = 0; i < 20; i++)
        assert_int_equal(step(&fixture, 0, 0, true), 0);
    assert_ms(&fixture, 5, 100, 0);
    step(&fixture, 3, 102, true);
    assert_ms(&fixture, 8, 102, 0);
}

static void without_clocks_what_is_seen_decides(void **state)
{
    struct late_clock clock;

    (void)state;
    late_clock_begin(&clock, NULL, 1000 * MS);
    late_clock_look(&clock, NULL, 1005 * MS, TICK_MS * MS, true);
    assert_int_equal(late_clock_look(&clock, NULL, 1015 * MS, TICK_MS * MS, false), 10 * MS);
    assert_int_equal(clock.running_ns, 5 * MS);
    assert_int_equal(clock.sleeping_ns, 10 * MS);
    assert_int_equal(late_clock_look(&clock, NULL, 1015 * MS, TICK_MS * MS, false), 0);
}

static void stat_tells_the_state_and_the_major_faults_whatever_the_name(void **state)
{
    struct task_stat stat;

    (void)state;
    assert_true(task_stat_parse("17 (a) S (b)) D 1 2 3 4 5 4194304 100 200 33 400 0 0", &stat));
    assert_int_equal(stat.letter, 'D');
    assert_int_equal(stat.major_faults, 33);
    assert_false(task_stat_parse("17 (a", &stat));
    assert_false(task_stat_parse("17 (a) S 1 2", &stat));
    assert_false(task_stat_parse("", &stat));
}

static void status_tells_who_traces(void **state)
{
    (void)state;
    assert_int_equal(task_tracer_parse("Name:\tTracerPid:\nPid:\t7\nTracerPid:\t42\nUid:\t0\n"),
                     42);
    assert_int_equal(task_tracer_parse("Name:\tx\nTracerPid:\t0\n"), 0);
    assert_int_equal(task_tracer_parse(""), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_sleeper_clocks_do_not_tell_it_slept),
        cmocka_unit_test(a_running_thread_does_not_sleep_between_ticks),
        cmocka_unit_test(what_the_clocks_never_tell_was_sleep),
        cmocka_unit_test(an_awake_thread_whose_clocks_stand_waits_for_a_processor),
        cmocka_unit_test(without_clocks_what_is_seen_decides),
        cmocka_unit_test(stat_tells_the_state_and_the_major_faults_whatever_the_name),
        cmocka_unit_test(status_tells_who_traces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
