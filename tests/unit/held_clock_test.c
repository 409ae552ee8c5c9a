#include "sampler/profile/outside/held_clock.h"

#include "sampler/feed/cleanup.h"
#include "skip_because.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { LONG_US = 1000000 };

static int perf_event(void)
{
    struct perf_event_attr attr;

    memset(&attr, 0, sizeof(attr));
    attr.size = sizeof(attr);
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_TASK_CLOCK;
    attr.disabled = attr.exclude_kernel = attr.exclude_hv = 1;
    return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

enum { PERIOD_US = 1000 };

static const struct feed_clock_view wants_ticks = { .period_us = PERIOD_US, .live = 1 };

/* A clock that holds a perf event, and a program that sleeps. */
struct fixture {
    struct held_clock clock;
    int fd;
    pid_t child;
};

static bool fixture_open(struct fixture *fixture, bool runs)
{
    fixture->fd = perf_event();
    if (fixture->fd < 0)
        return false;
    fixture->child = fork();
    if (fixture->child == 0) {
        pause();
        _exit(0);
    }
    held_clock_take(&fixture->clock, fixture->fd, PERIOD_US, runs);
    return true;
}

#define OPEN_OR_SKIP(fixture, runs)                                                                \
    do {                                                                                           \
        if (!fixture_open(fixture, runs))                                                          \
            skip_because("the kernel refuses perf events");                                        \
    } while (0)

static void fixture_close(struct fixture *fixture)
{
    held_clock_drop(&fixture->clock);
    kill(fixture->child, SIGKILL);
    waitpid(fixture->child, NULL, 0);
}

static void a_descriptor_that_is_no_perf_event_is_closed(void **state)
{
    struct held_clock clock;
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    held_clock_take(&clock, ends[0], PERIOD_US, true);
    assert_int_equal(clock.count, 0);
    assert_int_equal(fcntl(ends[0], F_GETFD), -1);
    close(ends[1]);
    held_clock_drop(&clock);
}

static void without_a_clock_nothing_runs_and_nobody_looks(void **state)
{
    struct held_clock clock;

    (void)state;
    held_clock_take(&clock, -1, 0, false);
    assert_false(held_clock_follow(&clock, getpid(), &wants_ticks, PERIOD_US, LONG_US));
    assert_false(clock.runs);
    held_clock_drop(&clock);
}

static void it_runs_while_ticks_are_wanted(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    struct held_clock *clock = &fixture.clock;

    (void)state;
    OPEN_OR_SKIP(&fixture, true);
    assert_false(held_clock_follow(clock, getpid(), &wants_ticks, PERIOD_US, 0));
    assert_true(held_clock_follow(clock, getpid(), &wants_ticks, 0, 0));
    assert_false(clock->runs);
    assert_true(held_clock_follow(clock, getpid(), &wants_ticks, PERIOD_US, 0));
    assert_true(clock->runs);
    held_clock_drop(clock);
    assert_int_equal(fcntl(fixture.fd, F_GETFD), -1);
}

/* A program says which threads it has; a trap in another's would end that one. */
static void none_is_opened_for_a_thread_of_another_program(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    struct held_clock *clock = &fixture.clock;

    (void)state;
    OPEN_OR_SKIP(&fixture, false);
    held_clock_add(clock, getpid(), fixture.child);
    assert_int_equal(clock->count, 1);
    held_clock_add(clock, fixture.child, fixture.child);
    assert_int_equal(clock->count, 2);
}

static void
one_that_a_switching_program_gives_up_is_closed_and_its_debugger_still_seen(void **state)
{
    struct feed_clock_view switches = wants_ticks;
    CLEANUP(fixture_close) struct fixture fixture;
    struct held_clock *clock = &fixture.clock;
    pid_t child;

    (void)state;
    switches.reason = FEED_TIMER_REASON_SWITCHES;
    OPEN_OR_SKIP(&fixture, true);
    child = fixture.child;
    assert_true(held_clock_follow(clock, child, &switches, PERIOD_US, LONG_US));
    assert_false(clock->runs);
    assert_int_equal(fcntl(fixture.fd, F_GETFD), -1);
    assert_int_equal(ptrace(PTRACE_SEIZE, child, NULL, NULL), 0);
    assert_true(held_clock_follow(clock, child, &switches, PERIOD_US, 2 * LONG_US));
    assert_true(clock->traced);
}

static void one_between_several_threads_is_kept_and_stands_still(void **state)
{
    struct feed_clock_view switches = wants_ticks;
    CLEANUP(fixture_close) struct fixture fixture;

    (void)state;
    switches.reason = FEED_TIMER_REASON_SWITCHES;
    switches.live = 2;
    OPEN_OR_SKIP(&fixture, true);
    assert_true(held_clock_follow(&fixture.clock, getpid(), &switches, PERIOD_US, 0));
    assert_false(fixture.clock.runs);
    assert_int_not_equal(fcntl(fixture.fd, F_GETFD), -1);
}

static void a_shorter_period_opens_others_for_all_threads(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    struct held_clock *clock = &fixture.clock;

    (void)state;
    OPEN_OR_SKIP(&fixture, true);
    held_clock_follow(clock, fixture.child, &wants_ticks, PERIOD_US / 2, 0);
    assert_true(clock->refused || (clock->count == 1 && clock->events[0].tid == fixture.child));
    assert_int_equal(clock->period_us, PERIOD_US / 2);
    assert_int_equal(clock->runs, clock->count == 1);
}

static void a_debugger_is_seen_when_it_comes_and_when_it_goes(void **state)
{
    struct feed_clock_view suspects = wants_ticks;
    CLEANUP(fixture_close) struct fixture fixture;
    struct held_clock *clock = &fixture.clock;
    pid_t child;
    int status;

    (void)state;
    OPEN_OR_SKIP(&fixture, true);
    child = fixture.child;
    assert_false(held_clock_follow(clock, child, &wants_ticks, PERIOD_US, LONG_US));
    assert_int_equal(ptrace(PTRACE_SEIZE, child, NULL, NULL), 0);
    /* It has just looked. */
    assert_false(held_clock_follow(clock, child, &wants_ticks, PERIOD_US, LONG_US + 1));
    suspects.suspects = 1; /* the program has a reason to look at once */
    assert_true(held_clock_follow(clock, child, &suspects, PERIOD_US, LONG_US + 1));
    assert_true(clock->traced);
    assert_false(clock->runs);
    assert_int_equal(ptrace(PTRACE_INTERRUPT, child, NULL, NULL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(ptrace(PTRACE_DETACH, child, NULL, NULL), 0);
    assert_true(held_clock_follow(clock, child, &suspects, PERIOD_US, 3 * LONG_US));
    assert_false(clock->traced);
    assert_true(clock->runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_descriptor_that_is_no_perf_event_is_closed),
        cmocka_unit_test(without_a_clock_nothing_runs_and_nobody_looks),
        cmocka_unit_test(it_runs_while_ticks_are_wanted),
        cmocka_unit_test(none_is_opened_for_a_thread_of_another_program),
        cmocka_unit_test(
            one_that_a_switching_program_gives_up_is_closed_and_its_debugger_still_seen),
        cmocka_unit_test(one_between_several_threads_is_kept_and_stands_still),
        cmocka_unit_test(a_shorter_period_opens_others_for_all_threads),
        cmocka_unit_test(a_debugger_is_seen_when_it_comes_and_when_it_goes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
