/* The program takes a signal that ticks come by: when it has it. */
#include "sampler/capture/sampler_signals.h"

#include "sampler/capture/sampler.h"
#include "sampler/capture/threads/tick_signal.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { DEADLINE_S = 30 };

static struct feed_header header;

/* A sampler whose ticks are traps, of a clock that the test holds in the service's place. */
static int set_up(void **state)
{
    (void)state;
    memset(&header, 0, sizeof header);
    header.status.clock_period_us = 1000;
    header.control.clock_runs = 1;
    sampler.threads.rights = (struct clock_rights){ .trap = true };
    sampler.writer.header = &header;
    sampler.threads.writer = &sampler.writer;
    sampler.pid = getpid();
    atomic_store(&sampler.locked, 0);
    atomic_store(&sampler.running, RUN_ON);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    atomic_store(&sampler.running, RUN_STOPPED);
    sampler.writer.header = NULL;
    return 0;
}

static bool is_asked(void)
{
    const struct timespec moment = { 0, 100 * 1000 };

    for (time_t end = time(NULL) + DEADLINE_S; !atomic_load(&header.status.asks);
         nanosleep(&moment, NULL))
        if (time(NULL) > end)
            return false;
    return true;
}

static void *stop_the_clock(void *unused)
{
    bool asked = is_asked();

    (void)unused;
    if (header.status.clock_reason != FEED_TIMER_REASON_SIGNAL)
        asked = false;
    atomic_store(&header.control.clock_runs, 0);
    return (void *)(uintptr_t)asked;
}

static void the_program_waits_until_the_service_has_stopped_the_clock(void **state)
{
    pthread_t service;
    void *asked;

    (void)state;
    assert_int_equal(pthread_create(&service, NULL, stop_the_clock, NULL), 0);
    assert_false(sampler_yield_signal(SIGTRAP));
    assert_int_equal(atomic_load(&header.control.clock_runs), 0);
    assert_false(sampler.threads.rights.trap);
    pthread_join(service, &asked);
    assert_non_null(asked);
}

static void nobody_waits_for_a_service_that_stands_still_for_ever(void **state)
{
    (void)state;
    assert_false(sampler_yield_signal(SIGTRAP));
    assert_false(sampler.threads.rights.trap);
}

static void a_signal_that_no_tick_uses_is_nobodys_affair(void **state)
{
    (void)state;
    assert_false(sampler_yield_signal(SIGUSR2));
    assert_int_equal(atomic_load(&header.status.asks), 0);
    assert_true(sampler.threads.rights.trap);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    (void)context;
}

/* There are three that ticks could use. */
static void who_starts_again_and_again_keeps_the_signal(void **state)
{
    (void)state;
    tick_signal_use(sigaction);
    sampler.threads.rights.wish = FEED_TIMER_WISH_CPU;
    for (int start = 0; start < 5; start++) {
        sampler_signals_take(on_signal, on_signal);
        assert_int_equal(sampler.threads.signal_number, SIGURG);
    }
    signal(SIGURG, SIG_DFL);
    sampler.threads.signal_number = 0;
}

static void a_tick_that_finds_the_lock_taken_goes_on(void **state)
{
    uint64_t mask;

    (void)state;
    assert_true(sampler_lock(&mask));
    assert_false(sampler_try_lock());
    sampler_unlock_to(&mask);
    assert_true(sampler_try_lock());
    sampler_unlock();
}

enum { LOCKERS = 4, LOCKS = 20000 };

static void *lock_often(void *sum)
{
    for (int locks = 0; locks < LOCKS;) {
        uint64_t mask;

        if (!sampler_lock(&mask))
            continue; /* not for ever */
        ++*(volatile int *)sum;
        sampler_unlock_to(&mask);
        locks++;
    }
    return NULL;
}

static void threads_that_want_the_lock_have_it_one_after_the_other(void **state)
{
    pthread_t lockers[LOCKERS];
    int sum = 0;

    (void)state;
    for (int i = 0; i < LOCKERS; i++)
        assert_int_equal(pthread_create(&lockers[i], NULL, lock_often, &sum), 0);
    for (int i = 0; i < LOCKERS; i++)
        pthread_join(lockers[i], NULL);
    assert_int_equal(sum, LOCKERS * LOCKS);
    assert_true(sampler_try_lock());
    sampler_unlock();
}

int main(void)
{
#define WITH_SAMPLER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_SAMPLER(the_program_waits_until_the_service_has_stopped_the_clock),
        WITH_SAMPLER(nobody_waits_for_a_service_that_stands_still_for_ever),
        WITH_SAMPLER(a_signal_that_no_tick_uses_is_nobodys_affair),
        WITH_SAMPLER(who_starts_again_and_again_keeps_the_signal),
        WITH_SAMPLER(a_tick_that_finds_the_lock_taken_goes_on),
        WITH_SAMPLER(threads_that_want_the_lock_have_it_one_after_the_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
