/* The timers of threads: started and stopped. CPU-time timers, for the kernel tells their state. */
#include "sampler/capture/threads/threads.h"

#include "sampler/capture/threads/rests.h"
#include "sampler/feed/sys.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { PERIOD_US = 1000000 };

static struct segment segment;
static struct threads threads;

/* Threads of a program that is sampled once a second; the sampler's thread is the test's. */
static int set_up(void **state)
{
    int memfd;

    (void)state;
    threads = (struct threads){ .segment = &segment, .signal_number = SIGURG };
    threads.rights.wish = FEED_TIMER_WISH_CPU;
    if (segment_create(&segment, &memfd, getpid(), 0) < 0)
        return -1;
    close(memfd);
    threads_set_period(&threads, PERIOD_US, false);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    threads_stop(&threads);
    segment_destroy(&segment);
    return 0;
}

static bool is_started(uint32_t slot)
{
    struct itimerspec left;

    assert_int_equal(threads.watches[slot].timer.kind, FEED_TIMER_CPU_CLOCK);
    assert_int_equal(sys_call2(SYS_timer_gettime, threads.watches[slot].timer.id, &left), 0);
    return left.it_value.tv_sec || left.it_value.tv_nsec;
}

/* Found by a scan before it had told of itself. */
static void a_thread_with_two_timers_rests_with_both_and_goes_on(void **state)
{
    const struct stack_range unknown = { 0 };
    uint32_t found = threads_take(&threads, gettid(), &unknown, true);
    uint32_t told = threads_enter(&threads, gettid(), &unknown);
    struct rest *rest;

    (void)state;
    threads_poll(&threads);
    assert_true(is_started(found));
    assert_true(is_started(told));
    rest = rests_ask(&threads.rests, gettid());
    threads_rest(&threads);
    assert_false(is_started(found));
    assert_false(is_started(told));
    rests_end(&threads.rests, rest);
    threads_rest(&threads);
    assert_true(is_started(found));
    assert_true(is_started(told));
}

/* Its second timer is not made yet when it asks. */
static void a_timer_that_is_made_for_a_resting_thread_rests(void **state)
{
    const struct stack_range unknown = { 0 };
    uint32_t found = threads_take(&threads, gettid(), &unknown, true), told;

    (void)state;
    threads_poll(&threads);
    rests_ask(&threads.rests, gettid());
    told = threads_enter(&threads, gettid(), &unknown);
    threads_rest(&threads);
    threads_poll(&threads);
    assert_false(is_started(found));
    assert_false(is_started(told));
}

static void another_threads_timer_goes_on(void **state)
{
    const struct stack_range unknown = { 0 };
    uint32_t slot = threads_enter(&threads, gettid(), &unknown);

    (void)state;
    threads_poll(&threads);
    rests_ask(&threads.rests, gettid() + 1);
    threads_rest(&threads);
    assert_true(is_started(slot));
}

int main(void)
{
#define WITH_THREADS(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_THREADS(a_thread_with_two_timers_rests_with_both_and_goes_on),
        WITH_THREADS(a_timer_that_is_made_for_a_resting_thread_rests),
        WITH_THREADS(another_threads_timer_goes_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
