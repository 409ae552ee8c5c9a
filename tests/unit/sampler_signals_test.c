/* The program takes a signal that ticks come by: when it has it. */
#include "sampler/capture/sampler_signals.h"

#include "sampler/capture/sampler.h"

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
static _Atomic bool returned;
static _Atomic int disturbed;

static void on_disturbance(int number)
{
    (void)number;
    atomic_fetch_add(&disturbed, 1);
}

/* A sampler whose ticks are traps; its thread is the test's. */
static int set_up(void **state)
{
    (void)state;
    memset(&header, 0, sizeof header);
    sampler.threads.rights = (struct clock_rights){ .trap = true };
    sampler.segment.header = &header;
    sampler.threads.segment = &sampler.segment;
    sampler.threads.root = -1;
    sampler.pid = getpid();
    atomic_store(&sampler.thread.tid, (uint32_t)gettid());
    atomic_store(&sampler.running, RUN_ON);
    atomic_store(&returned, false);
    atomic_store(&disturbed, 0);
    signal(SIGUSR1, on_disturbance);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    signal(SIGUSR1, SIG_DFL);
    atomic_store(&sampler.thread.tid, 0);
    atomic_store(&sampler.running, RUN_STOPPED);
    sampler.segment.header = NULL;
    return 0;
}

static bool until(bool (*holds)(void))
{
    const struct timespec moment = { 0, 100 * 1000 };

    for (time_t end = time(NULL) + DEADLINE_S; !holds(); nanosleep(&moment, NULL))
        if (time(NULL) > end)
            return false;
    return true;
}

static bool asked(void)
{
    return atomic_load(&sampler.yielding) == SIGTRAP;
}

static bool was_disturbed(void)
{
    return atomic_load(&disturbed) > 0 || atomic_load(&returned);
}

static bool asked_again_or_returned(void)
{
    return atomic_load(&header.control.wake) > 1 || atomic_load(&returned);
}

/* The sampler's thread, which is slow; a tick comes to the one that waits for it. */
static void *serve_late(void *waiting)
{
    bool fine = until(asked);

    pthread_kill(*(pthread_t *)waiting, SIGUSR1);
    fine = fine && until(was_disturbed) && until(asked_again_or_returned);
    sampler_signals_yield();
    return (void *)(uintptr_t)fine;
}

static void the_program_waits_until_it_has_the_signal_though_a_tick_comes_meanwhile(void **state)
{
    pthread_t self = pthread_self(), thread;
    bool has_it;
    void *fine;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, serve_late, &self), 0);
    sampler_yield_signal(SIGTRAP);
    has_it = !sampler.threads.rights.trap;
    atomic_store(&returned, true);
    pthread_join(thread, &fine);
    assert_true(fine);
    assert_true(has_it);
}

static void nobody_waits_for_a_thread_that_is_gone(void **state)
{
    (void)state;
    atomic_store(&sampler.thread.tid, 0);
    sampler_yield_signal(SIGTRAP);
    assert_int_equal(atomic_load(&sampler.yielding), 0);
}

static void a_signal_that_no_tick_uses_is_nobodys_affair(void **state)
{
    (void)state;
    sampler_yield_signal(SIGUSR2);
    assert_int_equal(atomic_load(&header.control.wake), 0);
}

int main(void)
{
#define WITH_SAMPLER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_SAMPLER(the_program_waits_until_it_has_the_signal_though_a_tick_comes_meanwhile),
        WITH_SAMPLER(nobody_waits_for_a_thread_that_is_gone),
        WITH_SAMPLER(a_signal_that_no_tick_uses_is_nobodys_affair),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
