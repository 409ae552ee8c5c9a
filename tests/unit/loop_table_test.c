/* What isoscope/loop.h marks, as the service reads it. */
#include "loop_fixture.h"

#include "sampler/capture/loops/loop_ping.h"

#include <time.h>

static uint64_t mark(void)
{
    return marks_of(live_loop()).mark;
}

static struct isoscope_loop *add(void)
{
    struct isoscope_loop *loop = loop_table_add("render", NULL);

    assert_non_null(loop);
    return loop;
}

static void a_registered_loop_tells_its_name_and_limits(void **state)
{
    const struct isoscope_loop_options options = { sizeof options, 5, 10, 20, 40 };
    struct feed_loop_view view;

    (void)state;
    assert_non_null(loop_table_add("render", &options));
    assert_true(feed_reader_loop(reader, live_loop(), &view));
    assert_string_equal(view.name, "render");
    assert_int_equal(view.kind, FEED_LOOP_REGISTERED);
    assert_int_equal(view.tid, gettid());
    assert_int_equal(view.limits_ms[0], 5);
    assert_int_equal(view.limits_ms[3], 40);
    assert_false(view.has_ping);
}

static void begin_and_end_move_the_mark(void **state)
{
    struct isoscope_loop *loop = add();

    (void)state;
    assert_int_equal(mark(), 0);
    isoscope_loop_begin(loop);
    assert_int_equal(mark(), 1);
    isoscope_loop_end(loop);
    assert_int_equal(mark(), 2);
}

static void the_outermost_pair_is_the_dispatch(void **state)
{
    struct isoscope_loop *loop = add();

    (void)state;
    isoscope_loop_begin(loop);
    isoscope_loop_begin(loop);
    isoscope_loop_end(loop);
    assert_int_equal(mark(), 1);
    isoscope_loop_end(loop);
    assert_int_equal(mark(), 2);
}

static void an_end_too_many_does_nothing(void **state)
{
    struct isoscope_loop *loop = add();

    (void)state;
    isoscope_loop_end(loop);
    assert_int_equal(mark(), 0);
    isoscope_loop_begin(loop);
    isoscope_loop_end(loop);
    isoscope_loop_end(loop);
    assert_int_equal(mark(), 2);
    isoscope_loop_begin(loop);
    assert_int_equal(mark(), 3);
}

static void a_dispatch_that_waits_is_idle(void **state)
{
    struct isoscope_loop *loop = add();

    (void)state;
    isoscope_loop_begin(loop);
    isoscope_loop_idle_enter(loop);
    assert_int_equal(mark(), 2);
    isoscope_loop_idle_leave(loop);
    assert_int_equal(mark(), 3);
    isoscope_loop_end(loop);
    assert_int_equal(mark(), 4);
}

/* A dialog's loop dispatches inside of a dispatch that waits. */
static void a_nested_loop_dispatches_while_the_outer_one_waits(void **state)
{
    struct isoscope_loop *loop = add();

    (void)state;
    isoscope_loop_begin(loop);
    isoscope_loop_idle_enter(loop);
    isoscope_loop_begin(loop);
    assert_int_equal(mark(), 3);
    isoscope_loop_end(loop);
    assert_int_equal(mark(), 4);
    isoscope_loop_end(loop); /* one too many: the outer dispatch is not its to end */
    isoscope_loop_idle_leave(loop);
    assert_int_equal(mark(), 5);
    isoscope_loop_end(loop);
    assert_int_equal(mark(), 6);
}

static void an_idle_loop_that_waits_stays_idle(void **state)
{
    struct isoscope_loop *loop = add();

    (void)state;
    isoscope_loop_idle_leave(loop);
    isoscope_loop_idle_enter(loop);
    isoscope_loop_idle_leave(loop);
    assert_int_equal(mark(), 0);
}

static void idle_in_idle_in_idle_comes_back_out(void **state)
{
    struct isoscope_loop *loop = add();

    (void)state;
    isoscope_loop_begin(loop);
    for (int i = 0; i < 2 * LOOP_IDLES_MAX; i++)
        isoscope_loop_idle_enter(loop);
    for (int i = 0; i < 2 * LOOP_IDLES_MAX; i++)
        isoscope_loop_idle_leave(loop);
    isoscope_loop_end(loop);
    assert_int_equal(mark() % 2, 0);
    isoscope_loop_begin(loop);
    assert_int_equal(mark() % 2, 1);
}

static void progress_is_counted(void **state)
{
    struct isoscope_loop *loop = add();

    (void)state;
    isoscope_loop_begin(loop);
    isoscope_loop_progress(loop);
    isoscope_loop_progress(loop);
    assert_int_equal(marks_of(live_loop()).progress, 2);
    assert_int_equal(mark(), 1);
}

static void no_loop_does_nothing(void **state)
{
    (void)state;
    isoscope_loop_begin(NULL);
    isoscope_loop_end(NULL);
    isoscope_loop_idle_enter(NULL);
    isoscope_loop_idle_leave(NULL);
    isoscope_loop_progress(NULL);
    assert_int_equal(feed_reader_loops(reader), 1);
}

static void a_loop_that_ended_does_nothing(void **state)
{
    struct isoscope_loop *loop = add();

    (void)state;
    isoscope_loop_begin(loop);
    loop_table_end_all(gettid());
    isoscope_loop_end(loop);
    isoscope_loop_begin(loop);
    isoscope_loop_progress(loop);
    assert_int_equal(live_loop(), 0);
    assert_int_equal(marks_of(1).state, FEED_LOOP_ENDED);
    assert_int_equal(marks_of(1).mark, 2); /* the dispatch that was under way ended with it */
}

/* The program may end it once more, when its place is not another's yet. */
static void a_loop_ends_once(void **state)
{
    struct isoscope_loop *loop = add(), *other;

    (void)state;
    loop_table_end_all(gettid());
    other = add();
    assert_ptr_not_equal(loop, other);
    assert_false(loop_table_end(loop, LOOP_FREE));
    isoscope_loop_begin(other);
    assert_int_equal(mark(), 1);
}

static uint64_t loops_lost(void)
{
    struct feed_status_view status;

    feed_reader_status(reader, &status);
    return status.loops_lost;
}

/* Programs whose threads register loops and end never run out of them. */
static void places_of_ended_loops_are_taken_again(void **state)
{
    (void)state;
    for (int i = 0; i < 3 * FEED_LOOPS_MAX; i++) {
        add();
        loop_table_end_all(gettid());
        feed_reader_loop_recycle(reader, 1);
    }
    assert_int_equal(feed_reader_loops(reader), 2);
    assert_int_equal(loops_lost(), 0);
}

static void another_feed_gets_registered_loops_at_their_next_dispatch(void **state)
{
    struct isoscope_loop *loop = add();
    struct feed_loop_view view;

    (void)state;
    isoscope_loop_begin(loop);
    end_feed();
    begin_feed();
    isoscope_loop_end(loop);
    isoscope_loop_begin(loop);
    assert_true(feed_reader_loop(reader, live_loop(), &view));
    assert_string_equal(view.name, "render");
    assert_int_equal(mark(), 1);
}

/* ---- when a dispatch ended, and that one began ---- */

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Nobody reads a clock for a dispatch that is not late. */
static void the_end_is_told_when_it_is_asked_for(void **state)
{
    struct isoscope_loop *loop = add();
    int64_t before;

    (void)state;
    isoscope_loop_begin(loop);
    isoscope_loop_end(loop);
    assert_int_equal(marks_of(1).ended_ns, 0);
    isoscope_loop_begin(loop);
    feed_reader_loop_ask_end(reader, 1, mark());
    before = now_ns();
    isoscope_loop_end(loop);
    assert_in_range(marks_of(1).ended_ns, before, now_ns());
    before = marks_of(1).ended_ns;
    isoscope_loop_begin(loop);
    isoscope_loop_end(loop);
    assert_int_equal(marks_of(1).ended_ns, before);
}

static void the_first_dispatch_after_rest_rings_once(void **state)
{
    struct isoscope_loop *loop = add();
    const struct feed_status *status = &sampler.writer.header->status;
    uint32_t asks = atomic_load(&status->asks);
    int64_t woken_ns, before = now_ns();

    (void)state;
    isoscope_loop_begin(loop);
    isoscope_loop_end(loop);
    assert_int_equal(atomic_load(&status->asks), asks);
    feed_reader_loops_rest(reader);
    assert_true(feed_reader_loops_resting(reader, &woken_ns));
    for (int i = 0; i < 5; i++) {
        isoscope_loop_begin(loop);
        isoscope_loop_end(loop);
    }
    assert_int_equal(atomic_load(&status->asks), asks + 1);
    assert_false(feed_reader_loops_resting(reader, &woken_ns));
    assert_in_range(woken_ns, before, now_ns());
}

/* After isoscope_stop, or in a sandbox, nothing enters the kernel. */
static void nothing_rings_when_the_sampler_has_stopped(void **state)
{
    struct isoscope_loop *loop = add();
    const struct feed_status *status = &sampler.writer.header->status;
    uint32_t asks = atomic_load(&status->asks);

    (void)state;
    feed_reader_loops_rest(reader);
    atomic_store(&sampler.running, RUN_STOPPED);
    isoscope_loop_begin(loop);
    assert_int_equal(atomic_load(&status->asks), asks);
    atomic_store(&sampler.running, RUN_ON);
}

/* ---- pings ---- */

struct posted {
    void (*run)(void *argument);
    void *argument;
    _Atomic uint32_t count;
    int result;
};

static int post(void (*run)(void *argument), void *argument, void *context)
{
    struct posted *posted = context;

    posted->run = run;
    posted->argument = argument;
    atomic_fetch_add(&posted->count, 1);
    return posted->result;
}

/* With a deadline: the thread that posts may stand still for a while. */
static void await(const _Atomic uint32_t *word, uint32_t value)
{
    const struct timespec moment = { 0, 1000 * 1000 };

    for (int looks = 0; looks < 30000 && atomic_load(word) != value; looks++)
        nanosleep(&moment, NULL);
    assert_int_equal(atomic_load(word), value);
}

/* Until the loop has run a ping there is no second one. */
static void a_ping_is_posted_once_until_it_was_run(void **state)
{
    struct isoscope_loop *loop = add();
    struct posted posted = { 0 };
    struct feed_loop_view view;

    (void)state;
    assert_int_equal(loop_ping_set(loop, post, &posted), 0);
    assert_true(feed_reader_loop(reader, 1, &view));
    assert_true(view.has_ping);
    assert_int_equal(atomic_load(&posted.count), 0);
    feed_reader_loop_ping(reader, 1);
    await(&posted.count, 1);
    await(&loop->place.entry->ping_posted, 1);
    feed_reader_loop_ping(reader, 1);
    assert_int_equal(marks_of(1).ping_seen, 0);
    posted.run(posted.argument);
    assert_int_equal(marks_of(1).ping_seen, 1);
    feed_reader_loop_ping(reader, 1);
    await(&posted.count, 2);
    loop_ping_stop();
}

static void a_ping_that_is_refused_is_not_posted(void **state)
{
    struct isoscope_loop *loop = add();
    struct posted posted = { .result = -1 };

    (void)state;
    assert_int_equal(loop_ping_set(loop, post, &posted), 0);
    feed_reader_loop_ping(reader, 1);
    await(&posted.count, 1);
    await(&loop->place.entry->ping_posted, 0);
    feed_reader_loop_ping(reader, 1);
    await(&posted.count, 2);
    loop_ping_stop();
}

/* What the program runs late, of a loop that is gone, touches nothing. */
static void a_ping_that_runs_when_its_loop_has_ended_does_nothing(void **state)
{
    struct isoscope_loop *loop = add(), *next;
    struct posted posted = { 0 };

    (void)state;
    assert_int_equal(loop_ping_set(loop, post, &posted), 0);
    feed_reader_loop_ping(reader, 1);
    await(&posted.count, 1);
    assert_int_equal(loop_ping_set(loop, NULL, NULL), 0);
    loop_table_end(loop, LOOP_FREE);
    next = add();
    assert_ptr_equal(next, loop);
    posted.run(posted.argument);
    assert_int_equal(marks_of(live_loop()).ping_seen, 0);
    feed_reader_loop_ping(reader, live_loop());
    loop_ping_stop();
    assert_int_equal(atomic_load(&posted.count), 1);
}

static int stops_in_post(void (*run)(void *argument), void *argument, void *context)
{
    struct posted *posted = context;

    (void)run;
    (void)argument;
    loop_ping_set(loop_table_next(0, 0), NULL, NULL);
    atomic_fetch_add(&posted->count, 1);
    return 0;
}

static void a_post_may_end_its_own_pings(void **state)
{
    struct isoscope_loop *loop = add();
    struct posted posted = { 0 };

    (void)state;
    assert_int_equal(loop_ping_set(loop, stops_in_post, &posted), 0);
    feed_reader_loop_ping(reader, 1);
    await(&posted.count, 1);
    loop_ping_stop();
    assert_null(loop->post);
}

static void begin_once(struct isoscope_loop *loop)
{
    isoscope_loop_begin(loop);
    isoscope_loop_end(loop);
}

static void no_begin_is_noted_that_was_not_asked_for(void **state)
{
    struct isoscope_loop *loop = add();

    (void)state;
    begin_once(loop);
    assert_int_equal(marks_of(live_loop()).noted_mark, 0);
    assert_int_equal(marks_of(live_loop()).noted_ns, 0);
}

static void the_first_begin_after_a_look_is_noted(void **state)
{
    struct isoscope_loop *loop = add();
    int64_t before_ns;

    (void)state;
    begin_once(loop);
    isoscope_loop_begin(loop);
    feed_reader_loop_note_begins(reader, live_loop(), mark());
    isoscope_loop_end(loop);
    before_ns = now_ns();
    isoscope_loop_begin(loop);
    assert_int_equal(marks_of(live_loop()).noted_mark, 5);
    assert_in_range(marks_of(live_loop()).noted_ns, before_ns, now_ns());
}

/* Each of the first eight, then one in a quarter of all so far: of any number of begins some dozens have read a clock, and the
 * last that has is not far back. */
static void the_more_begins_the_fewer_are_noted(void **state)
{
    struct isoscope_loop *loop = add();
    uint64_t last = 0;
    uint32_t notes = 0;

    (void)state;
    feed_reader_loop_note_begins(reader, live_loop(), 0);
    for (uint64_t begins = 1; begins <= 100000; begins++) {
        uint64_t noted;

        begin_once(loop);
        noted = (marks_of(live_loop()).noted_mark + 1) / 2;
        notes += noted != last;
        last = noted;
        assert_true(begins > 8 || noted == begins);
        assert_true(4 * (begins - noted) <= begins);
    }
    assert_in_range(notes, 8, 80);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_registered_loop_tells_its_name_and_limits),
        TEST(begin_and_end_move_the_mark),
        TEST(the_outermost_pair_is_the_dispatch),
        TEST(an_end_too_many_does_nothing),
        TEST(a_dispatch_that_waits_is_idle),
        TEST(a_nested_loop_dispatches_while_the_outer_one_waits),
        TEST(an_idle_loop_that_waits_stays_idle),
        TEST(idle_in_idle_in_idle_comes_back_out),
        TEST(progress_is_counted),
        TEST(no_loop_does_nothing),
        TEST(a_loop_that_ended_does_nothing),
        TEST(a_loop_ends_once),
        TEST(places_of_ended_loops_are_taken_again),
        TEST(another_feed_gets_registered_loops_at_their_next_dispatch),
        TEST(the_end_is_told_when_it_is_asked_for),
        TEST(no_begin_is_noted_that_was_not_asked_for),
        TEST(the_first_begin_after_a_look_is_noted),
        TEST(the_more_begins_the_fewer_are_noted),
        TEST(the_first_dispatch_after_rest_rings_once),
        TEST(nothing_rings_when_the_sampler_has_stopped),
        TEST(a_ping_is_posted_once_until_it_was_run),
        TEST(a_ping_that_is_refused_is_not_posted),
        TEST(a_ping_that_runs_when_its_loop_has_ended_does_nothing),
        TEST(a_post_may_end_its_own_pings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
