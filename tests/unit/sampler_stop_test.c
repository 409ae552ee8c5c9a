/* The program stops the sampler while a tick moves it to another service. */
#include "sampler/capture/sampler.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { DEADLINE_S = 30 };

static struct feed_header header;

/* A tick of another thread is in the middle of announce_again. */
static int set_up(void **state)
{
    (void)state;
    memset(&header, 0, sizeof header);
    sampler.writer.header = &header;
    sampler.threads.writer = &sampler.writer;
    sampler.pid = getpid();
    atomic_store(&sampler.locked, 1);
    atomic_store(&sampler.handlers, 1);
    atomic_store(&sampler.running, RUN_MOVING);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    atomic_store(&sampler.running, RUN_STOPPED);
    atomic_store(&sampler.handlers, 0);
    atomic_store(&sampler.locked, 0);
    sampler.writer.header = NULL;
    return 0;
}

static void *stop(void *unused)
{
    (void)unused;
    sampler_stop_for_good();
    return NULL;
}

static void leave_tick(void)
{
    sampler_unlock();
    atomic_fetch_sub(&sampler.handlers, 1);
}

static void it_is_stopped_when_the_tick_has_left(void **state)
{
    pthread_t stopper;

    (void)state;
    assert_int_equal(pthread_create(&stopper, NULL, stop, NULL), 0);
    atomic_store(&sampler.running, RUN_ON);
    leave_tick();
    pthread_join(stopper, NULL);
    assert_int_equal(atomic_load(&sampler.running), RUN_STOPPED);
    assert_int_equal(header.status.stopped, 1);
    assert_int_equal(header.status.lost[FEED_LOSS_SANDBOXED], 1);
}

static bool is_told_to_stop(void)
{
    const struct timespec moment = { 0, 100 * 1000 };

    for (time_t end = time(NULL) + DEADLINE_S; atomic_load(&sampler.running) != RUN_STOPPED;
         nanosleep(&moment, NULL))
        if (time(NULL) > end)
            return false;
    return true;
}

/* It stands still itself, perhaps: nobody waits for it for ever. */
static void a_tick_that_takes_long_is_told_to_stop(void **state)
{
    pthread_t stopper;
    bool told;

    (void)state;
    assert_int_equal(pthread_create(&stopper, NULL, stop, NULL), 0);
    told = is_told_to_stop();
    leave_tick();
    pthread_join(stopper, NULL);
    assert_true(told);
    assert_int_equal(header.status.stopped, 1);
}

static void a_start_in_the_meantime_changes_nothing(void **state)
{
    const struct sampler_start_options options = { .period_us = 1000, .enabled = true };
    uint32_t slot = 7;

    (void)state;
    assert_int_equal(sampler_start(&options, &(struct stack_range){ 0 }, &slot), 0);
    assert_int_equal(slot, 7);
    assert_ptr_equal(sampler.writer.header, &header);
}

int main(void)
{
#define STOP_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        STOP_TEST(it_is_stopped_when_the_tick_has_left),
        STOP_TEST(a_tick_that_takes_long_is_told_to_stop),
        STOP_TEST(a_start_in_the_meantime_changes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
