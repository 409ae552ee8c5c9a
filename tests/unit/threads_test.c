/* Threads: how they are taken and found, what they leave, and their timers. CPU-time timers, for
 * the kernel tells their state. */
#include "sampler/capture/threads/threads.h"

#include "sampler/feed/sys.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { PERIOD_US = 1000000, RESTING_NS_MIN = 100 * 1000 * 1000 };

static const struct stack_range unknown;
static struct feed_writer writer;
static struct threads threads;

static int set_up(void **state)
{
    int memfd;

    (void)state;
    signal(SIGURG, SIG_IGN);
    threads = (struct threads){ .writer = &writer, .signal_number = SIGURG };
    threads.rights.wish = FEED_TIMER_WISH_CPU;
    if (feed_writer_create(&writer, &memfd, getpid(), 0) < 0 || threads_new(&threads) < 0)
        return -1;
    close(memfd);
    threads_set_period(&threads, PERIOD_US, SOURCE_CPU);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    threads_stop(&threads);
    feed_writer_destroy(&writer);
    return 0;
}

static bool runs(uint32_t slot)
{
    struct itimerspec left;

    assert_int_equal(sys_call2(SYS_timer_gettime, threads_at(&threads, slot)->cpu_timer, &left), 0);
    return left.it_interval.tv_nsec < RESTING_NS_MIN;
}

static void a_thread_is_taken_with_a_timer_that_runs(void **state)
{
    uint32_t slot = threads_take(&threads, gettid(), &unknown, false);

    (void)state;
    assert_true(slot > 0);
    assert_true(runs(slot));
    assert_int_equal(threads_find(&threads, gettid()), slot);
}

static void timers_rest_while_nobody_wants_ticks(void **state)
{
    uint32_t slot = threads_take(&threads, gettid(), &unknown, false);

    (void)state;
    threads_set_period(&threads, 0, SOURCE_CPU);
    assert_false(runs(slot));
    threads_set_period(&threads, PERIOD_US, SOURCE_CPU);
    assert_true(runs(slot));
}

static void what_a_thread_is_sampled_for_is_set_for_all_and_those_to_come(void **state)
{
    uint32_t both = SOURCE_CPU | SOURCE_WALL;
    uint32_t slot = threads_take(&threads, gettid(), &unknown, false), other;

    (void)state;
    assert_int_equal(threads_at(&threads, slot)->sources, SOURCE_CPU);
    threads_set_period(&threads, PERIOD_US, both);
    other = threads_take(&threads, getpid() + 1, &unknown, false);
    assert_int_equal(threads_at(&threads, slot)->sources, both);
    assert_int_equal(threads_at(&threads, other)->sources, both);
    threads_set_period(&threads, PERIOD_US, SOURCE_WALL);
    assert_int_equal(threads_at(&threads, slot)->sources, SOURCE_WALL);
}

static void a_tick_makes_a_thread_known_that_nobody_told_of(void **state)
{
    uint32_t slot = threads_slot_of_tick(&threads, getpid());

    (void)state;
    assert_true(slot > 0);
    assert_true(threads_at(&threads, slot)->scanned);
    assert_int_equal(threads_slot_of_tick(&threads, getpid()), slot);
}

static void a_tick_on_a_threads_last_steps_does_not_take_it_again(void **state)
{
    uint32_t slot = threads_take(&threads, gettid(), &unknown, false);

    (void)state;
    threads_leave(&threads, slot);
    assert_int_equal(threads_slot_of_tick(&threads, getpid()), 0);
    assert_int_equal(threads_find(&threads, gettid()), 0);
}

/* Its memory is a copy of ours, or ours. */
static void a_child_is_none_of_our_threads(void **state)
{
    int status = 0;
    pid_t child;

    (void)state;
    threads_take(&threads, gettid(), &unknown, false);
    child = fork();
    if (!child)
        _exit(threads_slot_of_tick(&threads, threads_at(&threads, 1)->tid) != 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void *spend_and_leave(void *spent_ns)
{
    uint32_t slot = threads_take(&threads, gettid(), &unknown, false);
    struct timespec now = { 0 };

    while (now.tv_nsec < 3000000)
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    threads_leave(&threads, slot);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    *(uint64_t *)spent_ns = (uint64_t)now.tv_nsec;
    return NULL;
}

static void what_no_sample_of_a_thread_has_counted_is_left_over(void **state)
{
    pthread_t thread;
    uint64_t spent_ns;

    (void)state;
    pthread_create(&thread, NULL, spend_and_leave, &spent_ns);
    pthread_join(thread, NULL);
    assert_in_range(threads.leftover_ns, 3000000, spent_ns);
}

/* Found by a scan, and then told of itself: its ticks belong to one of the two. */
static void a_thread_that_was_taken_twice_is_found_where_it_was_taken_last(void **state)
{
    uint32_t found = threads_take(&threads, gettid(), &unknown, true);
    uint32_t told = threads_take(&threads, gettid(), &unknown, false);

    (void)state;
    assert_int_not_equal(found, told);
    assert_int_equal(threads_slot_of_tick(&threads, getpid()), told);
}

static void another_signal_makes_the_timers_anew(void **state)
{
    uint32_t slot = threads_take(&threads, gettid(), &unknown, false);

    (void)state;
    threads_rearm(&threads, SIGPROF);
    signal(SIGPROF, SIG_IGN);
    assert_true(runs(slot));
    threads_rearm(&threads, SIGURG);
    assert_true(runs(slot));
}

static uint64_t lost(enum feed_loss loss)
{
    return atomic_load(&writer.header->status.lost[loss]);
}

static void begin_as_a_child_does(int signal_number)
{
    const uint32_t period_us = PERIOD_US;

    threads_forget_parent(&threads);
    threads.signal_number = signal_number;
    threads_arm_child(&threads, &unknown, period_us, false);
    threads_begin_child(&threads);
}

static void a_forked_child_without_a_signal_is_not_said_to_be_refused_a_timer(void **state)
{
    (void)state;
    begin_as_a_child_does(0);
    assert_int_equal(lost(FEED_LOSS_NO_SIGNAL), 1);
    assert_int_equal(lost(FEED_LOSS_NO_TIMER), 0);
}

static void a_forked_child_that_is_refused_a_timer_says_so(void **state)
{
    (void)state;
    begin_as_a_child_does(NSIG); /* there is no such signal */
    assert_int_equal(lost(FEED_LOSS_NO_SIGNAL), 0);
    assert_int_equal(lost(FEED_LOSS_NO_TIMER), 1);
}

/* What the kernel takes away with them are whole pages, however large those are. */
static void hints_share_no_page_with_a_thread(void **state)
{
    const char *first = (const char *)threads_at(&threads, 1);
    const long page_bytes = (long)getauxval(AT_PAGESZ);

    (void)state;
    assert_int_equal((first - (const char *)threads.hints) % page_bytes, 0);
    assert_true(first - (const char *)threads.hints >= (long)(HINTS * sizeof threads.hints[0]));
    assert_true(sizeof(struct sampled_thread) <= (size_t)page_bytes);
}

int main(void)
{
#define WITH_THREADS(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_THREADS(a_thread_is_taken_with_a_timer_that_runs),
        WITH_THREADS(timers_rest_while_nobody_wants_ticks),
        WITH_THREADS(what_a_thread_is_sampled_for_is_set_for_all_and_those_to_come),
        WITH_THREADS(a_tick_makes_a_thread_known_that_nobody_told_of),
        WITH_THREADS(a_tick_on_a_threads_last_steps_does_not_take_it_again),
        WITH_THREADS(a_child_is_none_of_our_threads),
        WITH_THREADS(what_no_sample_of_a_thread_has_counted_is_left_over),
        WITH_THREADS(a_thread_that_was_taken_twice_is_found_where_it_was_taken_last),
        WITH_THREADS(a_forked_child_without_a_signal_is_not_said_to_be_refused_a_timer),
        WITH_THREADS(a_forked_child_that_is_refused_a_timer_says_so),
        WITH_THREADS(hints_share_no_page_with_a_thread),
        WITH_THREADS(another_signal_makes_the_timers_anew),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
