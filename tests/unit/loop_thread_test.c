/* Which of a thread's waits are its loop's, and what they mark. */
#include "loop_fixture.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { FRAME = 0x7000, DEEPER = 0x6000, OUTER = 0x8000, SITE = 0x1000, OTHER_SITE = 0x2000 };

/* As a wrapped call does: true when it marks. */
static bool enter(struct loop_wait wait)
{
    if (!loop_thread_is_at(&wait) && !loop_thread_consider(&wait))
        return false;
    loop_thread_enter_wait();
    return true;
}

static bool wait_at(uintptr_t site, uintptr_t frame, enum feed_loop_kind kind)
{
    bool marks = enter((struct loop_wait){ site, frame, kind, true, 0 });

    if (marks)
        loop_thread_leave_wait();
    return marks;
}

static void wait_often(uintptr_t site, uintptr_t frame, enum feed_loop_kind kind, int times)
{
    for (int i = 0; i < times; i++)
        wait_at(site, frame, kind);
}

static void learn(void)
{
    wait_often(SITE, FRAME, FEED_LOOP_EPOLL, LOOP_LEARNED_BY_EPOLL);
    assert_int_not_equal(live_loop(), 0);
}

/* The third epoll_wait at one place makes a loop, which is idle until that wait returns. */
static void a_loop_is_learned_by_its_third_epoll_wait(void **state)
{
    struct feed_loop_view view;

    (void)state;
    assert_false(wait_at(SITE, FRAME, FEED_LOOP_EPOLL));
    assert_false(wait_at(SITE, FRAME, FEED_LOOP_EPOLL));
    assert_int_equal(live_loop(), 0);
    assert_true(enter((struct loop_wait){ SITE, FRAME, FEED_LOOP_EPOLL, true, 0 }));
    assert_int_equal(marks_of(live_loop()).mark, 0);
    loop_thread_leave_wait();
    assert_int_equal(marks_of(live_loop()).mark, 1);
    assert_true(feed_reader_loop(reader, live_loop(), &view));
    assert_int_equal(view.kind, FEED_LOOP_EPOLL);
    assert_int_equal(view.tid, gettid());
    assert_int_equal(view.slot, threads_find(&sampler.threads, gettid()));
    assert_string_equal(view.name, "");
}

static void poll_takes_longer_to_make_a_loop(void **state)
{
    (void)state;
    wait_often(SITE, FRAME, FEED_LOOP_POLL, LOOP_LEARNED_BY_POLL - 1);
    assert_int_equal(live_loop(), 0);
    wait_at(SITE, FRAME, FEED_LOOP_POLL);
    assert_int_not_equal(live_loop(), 0);
}

/* poll on one descriptor is how blocking programs wait with a timeout. */
static void a_wait_that_does_not_teach_never_makes_a_loop(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++)
        assert_false(enter((struct loop_wait){ SITE, FRAME, FEED_LOOP_POLL, false, 0 }));
    assert_int_equal(live_loop(), 0);
}

static void a_known_loop_waits_for_one_descriptor_too(void **state)
{
    (void)state;
    learn();
    assert_true(enter((struct loop_wait){ SITE, FRAME, FEED_LOOP_POLL, false, 0 }));
    assert_int_equal(marks_of(live_loop()).mark, 2);
}

/* A request that a callback waits for is a part of the dispatch. */
static void a_wait_deeper_in_the_stack_is_not_the_loops(void **state)
{
    uint64_t before;

    (void)state;
    learn();
    before = marks_of(live_loop()).mark;
    for (int i = 0; i < LOOP_LEFT_BY - 1; i++)
        assert_false(wait_at(OTHER_SITE, DEEPER, FEED_LOOP_EPOLL));
    assert_int_equal(marks_of(live_loop()).mark, before);
}

static void waits_of_callbacks_never_become_the_loops(void **state)
{
    (void)state;
    learn();
    for (int i = 0; i < 10 * LOOP_LEFT_BY; i++) {
        assert_false(wait_at(OTHER_SITE, DEEPER, FEED_LOOP_EPOLL));
        assert_true(wait_at(SITE, FRAME, FEED_LOOP_EPOLL));
    }
}

static void callbacks_that_wait_from_the_start_do_not_hide_the_loop(void **state)
{
    (void)state;
    for (int i = 0; i < LOOP_LEARNED_BY_EPOLL; i++) {
        wait_at(SITE, FRAME, FEED_LOOP_EPOLL);
        assert_false(wait_at(OTHER_SITE, DEEPER, FEED_LOOP_EPOLL));
    }
    assert_int_not_equal(live_loop(), 0);
}

/* The loop was left for another one, deeper in the stack: that is no dispatch without an end. */
static void a_loop_that_is_left_for_a_deeper_one_is_followed(void **state)
{
    (void)state;
    learn();
    wait_often(OTHER_SITE, DEEPER, FEED_LOOP_EPOLL, LOOP_LEFT_BY - 1);
    assert_true(wait_at(OTHER_SITE, DEEPER, FEED_LOOP_EPOLL));
    assert_true(wait_at(OTHER_SITE, DEEPER, FEED_LOOP_EPOLL));
    assert_int_equal(feed_reader_loops(reader), 2);
}

/* A wait that came once when the program began does not hide the loop behind it. */
static void a_wait_that_came_once_hides_no_loop(void **state)
{
    (void)state;
    wait_at(OTHER_SITE, OUTER, FEED_LOOP_EPOLL);
    learn();
}

/* A dialog's loop: the same call, deeper in the stack. */
static void the_same_call_deeper_is_idle(void **state)
{
    uint64_t before;

    (void)state;
    learn();
    before = marks_of(live_loop()).mark;
    assert_true(enter((struct loop_wait){ SITE, DEEPER, FEED_LOOP_EPOLL, true, 0 }));
    assert_int_equal(marks_of(live_loop()).mark, before + 1);
    loop_thread_leave_wait();
    assert_int_equal(marks_of(live_loop()).mark, before + 2);
}

/* node's execSync has a loop for the child that it waits for: libuv's one call, another epoll set. */
static void the_same_call_for_another_set_is_in_the_dispatch(void **state)
{
    enum { OWN_SET = 4, ITS_SET = 9 };

    (void)state;
    for (int i = 0; i < LOOP_LEARNED_BY_EPOLL; i++)
        if (enter((struct loop_wait){ SITE, FRAME, FEED_LOOP_EPOLL, true, OWN_SET }))
            loop_thread_leave_wait();
    assert_int_not_equal(live_loop(), 0);
    assert_false(enter((struct loop_wait){ SITE, DEEPER, FEED_LOOP_EPOLL, true, ITS_SET }));
    assert_true(enter((struct loop_wait){ SITE, DEEPER, FEED_LOOP_EPOLL, true, OWN_SET }));
}

static void an_outer_wait_that_comes_again_is_the_loops(void **state)
{
    (void)state;
    learn();
    wait_often(OTHER_SITE, OUTER, FEED_LOOP_EPOLL, LOOP_LEARNED_BY_EPOLL);
    assert_false(wait_at(0x3000, FRAME, FEED_LOOP_EPOLL)); /* inside of it now */
    assert_true(wait_at(OTHER_SITE, OUTER, FEED_LOOP_EPOLL));
}

/* Each wait, also one that returns at once, ends a dispatch and begins one. */
static void each_wait_moves_the_mark_on_by_two(void **state)
{
    (void)state;
    learn();
    for (uint64_t i = 0; i < 10; i++) {
        assert_int_equal(marks_of(live_loop()).mark, 1 + 2 * i);
        wait_at(SITE, FRAME, FEED_LOOP_EPOLL);
    }
}

/* A signal handler jumped out of the wait: the next wait goes on from there. */
static void a_wait_that_was_jumped_out_of_leaves_the_loop_idle(void **state)
{
    uint64_t idle;

    (void)state;
    learn();
    enter((struct loop_wait){ SITE, FRAME, FEED_LOOP_EPOLL, true, 0 });
    idle = marks_of(live_loop()).mark;
    wait_at(SITE, FRAME, FEED_LOOP_EPOLL);
    assert_int_equal(idle % 2, 0);
    assert_int_equal(marks_of(live_loop()).mark, idle + 1);
}

static void none_ends_learned_loops_and_auto_learns_anew(void **state)
{
    uint32_t number;

    (void)state;
    learn();
    number = live_loop();
    feed_reader_watch_loops(reader, FEED_WATCH_NONE);
    assert_false(wait_at(SITE, FRAME, FEED_LOOP_EPOLL));
    assert_int_equal(marks_of(number).state, FEED_LOOP_ENDED);
    assert_int_equal(marks_of(number).mark % 2, 0);
    wait_often(SITE, FRAME, FEED_LOOP_EPOLL, 10);
    assert_int_equal(live_loop(), 0);
    feed_reader_watch_loops(reader, FEED_WATCH_AUTO);
    wait_often(SITE, FRAME, FEED_LOOP_EPOLL, 100); /* it looks now and then */
    assert_int_not_equal(live_loop(), 0);
}

static void all_makes_a_loop_of_the_first_wait(void **state)
{
    (void)state;
    feed_reader_watch_loops(reader, FEED_WATCH_ALL);
    assert_true(enter((struct loop_wait){ SITE, FRAME, FEED_LOOP_POLL, false, 0 }));
    assert_int_not_equal(live_loop(), 0);
}

static void words_that_the_service_never_wrote_are_taken_for_auto(void **state)
{
    (void)state;
    learn();
    atomic_store(&sampler.writer.header->control.watch_loops, 0xdeadbeef);
    assert_true(wait_at(SITE, FRAME, FEED_LOOP_EPOLL));
}

static void a_thread_with_a_registered_loop_is_known_by_that_alone(void **state)
{
    struct isoscope_loop *loop;
    uint32_t learned;

    (void)state;
    learn();
    learned = live_loop();
    loop = loop_table_add("own", NULL);
    loop_thread_has(loop);
    assert_int_equal(marks_of(learned).state, FEED_LOOP_ENDED);
    wait_often(SITE, FRAME, FEED_LOOP_EPOLL, 10);
    assert_int_equal(feed_reader_loops(reader), 3);
    loop_table_end(loop, LOOP_FREE);
    wait_often(SITE, FRAME, FEED_LOOP_EPOLL, LOOP_LEARNED_BY_EPOLL);
    assert_int_not_equal(live_loop(), 0);
}

static void *learns_and_ends(void *unused)
{
    wait_often(SITE, FRAME, FEED_LOOP_EPOLL, LOOP_LEARNED_BY_EPOLL);
    loop_thread_unlearn(); /* as the end of a thread does */
    return unused;
}

/* Each thread has its own; what ended is given back, and taken again. */
static void an_ended_threads_entry_is_taken_again(void **state)
{
    struct feed_loop_marks marks;
    pthread_t thread;

    (void)state;
    learn();
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_create(&thread, NULL, learns_and_ends, NULL), 0);
        pthread_join(thread, NULL);
        marks = marks_of(2);
        assert_int_equal(marks.state, FEED_LOOP_ENDED);
        assert_int_equal(marks.generation, i + 1);
        feed_reader_loop_recycle(reader, 2);
        assert_false(feed_reader_loop_marks(reader, 2, &marks));
    }
    assert_int_equal(feed_reader_loops(reader), 3);
    assert_int_equal(marks_of(1).state, FEED_LOOP_LIVE);
}

static uint64_t loops_lost(void)
{
    struct feed_status_view status;

    feed_reader_status(reader, &status);
    return status.loops_lost;
}

/* A full table is counted, and the thread goes on. */
static void a_full_table_is_counted(void **state)
{
    (void)state;
    for (int i = 1; i < FEED_LOOPS_MAX; i++)
        assert_non_null(loop_table_add("one of many", NULL));
    wait_often(SITE, FRAME, FEED_LOOP_EPOLL, 10);
    assert_int_equal(loops_lost(), 1);
    assert_null(loop_table_add("one too many", NULL));
}

static void another_feed_gets_the_loop_too(void **state)
{
    (void)state;
    learn();
    end_feed();
    begin_feed();
    assert_int_equal(live_loop(), 0);
    assert_true(wait_at(SITE, FRAME, FEED_LOOP_EPOLL));
    assert_int_not_equal(live_loop(), 0);
}

/* Without libc's fork nobody tells the child, where the feed is not mapped. */
static void a_child_that_libc_does_not_know_of_marks_nothing(void **state)
{
    int status;
    long child;

    (void)state;
    learn();
    child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
        bool marks = false;

        for (int i = 0; i < 5000; i++)
            marks |= wait_at(SITE, FRAME, FEED_LOOP_EPOLL);
        _exit(marks);
    }
    assert_int_equal(waitpid((pid_t)child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(marks_of(live_loop()).mark, 1);
}

static void a_sampler_that_stopped_marks_nothing(void **state)
{
    (void)state;
    learn();
    event_epoch_end();
    atomic_store(&sampler.running, RUN_STOPPED);
    assert_false(wait_at(SITE, FRAME, FEED_LOOP_EPOLL));
    assert_int_equal(marks_of(1).mark, 1);
    atomic_store(&sampler.running, RUN_ON);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_loop_is_learned_by_its_third_epoll_wait),
        TEST(poll_takes_longer_to_make_a_loop),
        TEST(a_wait_that_does_not_teach_never_makes_a_loop),
        TEST(a_known_loop_waits_for_one_descriptor_too),
        TEST(a_wait_deeper_in_the_stack_is_not_the_loops),
        TEST(waits_of_callbacks_never_become_the_loops),
        TEST(callbacks_that_wait_from_the_start_do_not_hide_the_loop),
        TEST(a_loop_that_is_left_for_a_deeper_one_is_followed),
        TEST(a_wait_that_came_once_hides_no_loop),
        TEST(the_same_call_deeper_is_idle),
        TEST(the_same_call_for_another_set_is_in_the_dispatch),
        TEST(an_outer_wait_that_comes_again_is_the_loops),
        TEST(each_wait_moves_the_mark_on_by_two),
        TEST(a_wait_that_was_jumped_out_of_leaves_the_loop_idle),
        TEST(none_ends_learned_loops_and_auto_learns_anew),
        TEST(all_makes_a_loop_of_the_first_wait),
        TEST(words_that_the_service_never_wrote_are_taken_for_auto),
        TEST(a_thread_with_a_registered_loop_is_known_by_that_alone),
        TEST(an_ended_threads_entry_is_taken_again),
        TEST(a_full_table_is_counted),
        TEST(another_feed_gets_the_loop_too),
        TEST(a_child_that_libc_does_not_know_of_marks_nothing),
        TEST(a_sampler_that_stopped_marks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
