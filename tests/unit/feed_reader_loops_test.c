/* The table of loops: what the service believes of it, and what it tells. */
#include "sampler/feed/feed_reader_loops.h"

#include "sampler/feed/feed_loops.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the headers above first */
#include <cmocka.h>

#include "feed_both.h"

static struct feed_loop *begin(struct both *both)
{
    const struct feed_loop_start start = { .slot = 3,
                                           .tid = 17,
                                           .name = feed_writer_name(&both->writer, "main loop"),
                                           .kind = FEED_LOOP_POLL,
                                           .stall_ms = 40 };
    struct feed_loop *loop = feed_loops_begin(&both->writer, &start);

    assert_non_null(loop);
    return loop;
}

static void a_feed_begins_without_loops(void **state)
{
    const struct both *both = *state;
    struct feed_loop_view view;

    assert_int_equal(feed_reader_loops(both->reader), 1);
    for (uint32_t number = 0; number < FEED_LOOPS_MAX + 2; number++)
        assert_false(feed_reader_loop(both->reader, number, &view));
}

static void a_loop_is_read_as_it_was_written(void **state)
{
    struct both *both = *state;
    struct feed_loop_view view;

    begin(both);
    assert_int_equal(feed_reader_loops(both->reader), 2);
    assert_true(feed_reader_loop(both->reader, 1, &view));
    assert_int_equal(view.state, FEED_LOOP_LIVE);
    assert_int_equal(view.generation, 1);
    assert_int_equal(view.slot, 3);
    assert_int_equal(view.tid, 17);
    assert_int_equal(view.kind, FEED_LOOP_POLL);
    assert_string_equal(view.name, "main loop");
    assert_int_equal(view.limits_ms[1], 40);
}

/* What the loop before it was asked, and said, is not this one's. */
static void an_entry_that_is_taken_again_begins_anew(void **state)
{
    struct both *both = *state;
    struct feed_loop *loop = begin(both);
    struct feed_loop_marks marks;

    atomic_store(&loop->mark, 77);
    atomic_store(&loop->ended_ns, 5);
    feed_reader_loop_ping(both->reader, 1);
    feed_loops_end(loop);
    feed_reader_loop_recycle(both->reader, 1);
    assert_ptr_equal(begin(both), loop);
    assert_true(feed_reader_loop_marks(both->reader, 1, &marks));
    assert_int_equal(marks.generation, 2);
    assert_int_equal(marks.mark, 0);
    assert_int_equal(marks.ended_ns, 0);
    assert_int_equal(marks.ping_asked, marks.ping_seen);
    assert_int_equal(marks.ping_asked, marks.ping_posted);
}

static void only_a_loop_that_ended_is_given_back(void **state)
{
    struct both *both = *state;
    struct feed_loop *loop = begin(both);

    feed_reader_loop_recycle(both->reader, 1);
    assert_int_equal(atomic_load(&loop->state), FEED_LOOP_LIVE);
    feed_loops_end(loop);
    feed_reader_loop_recycle(both->reader, 1);
    assert_int_equal(atomic_load(&loop->state), FEED_LOOP_FREE);
}

/* Any words may stand there: none leads out of the feed. */
static void nonsense_is_not_believed(void **state)
{
    struct both *both = *state;
    struct feed_loop *loop = begin(both);
    struct feed_loop_view view;
    struct feed_loop_marks marks;

    atomic_store(&both->writer.header->status.loops_used, UINT32_MAX);
    assert_int_equal(feed_reader_loops(both->reader), FEED_LOOPS_MAX);
    for (int byte = 0; byte < 256; byte++) {
        memset(both->writer.loops, byte, FEED_LOOPS_MAX * sizeof *loop);
        for (uint32_t number = 0; number < FEED_LOOPS_MAX + 1; number++) {
            if (feed_reader_loop(both->reader, number, &view)) {
                assert_true(view.kind < FEED_LOOP_KIND_COUNT);
                assert_true(view.slot < FEED_THREADS_MAX);
                assert_true(strlen(view.name) <= FEED_NAME_MAX);
            }
            feed_reader_loop_marks(both->reader, number, &marks);
        }
    }
}

static void a_name_that_lies_nowhere_is_none(void **state)
{
    struct both *both = *state;
    struct feed_loop *loop = begin(both);
    struct feed_loop_view view;

    atomic_store(&loop->name, FEED_NAMES_BYTES);
    atomic_store(&loop->slot, FEED_THREADS_MAX);
    assert_true(feed_reader_loop(both->reader, 1, &view));
    assert_string_equal(view.name, "");
    assert_int_equal(view.slot, 0);
    atomic_store(&loop->kind, FEED_LOOP_KIND_COUNT);
    assert_false(feed_reader_loop(both->reader, 1, &view));
}

/* A name without an end: at most so many bytes of it. */
static void a_name_that_does_not_end_is_cut(void **state)
{
    struct both *both = *state;
    struct feed_loop *loop = begin(both);
    struct feed_loop_view view;

    memset(both->writer.names, 'x', FEED_NAMES_BYTES);
    atomic_store(&loop->name, FEED_NAMES_BYTES - 3);
    assert_true(feed_reader_loop(both->reader, 1, &view));
    assert_string_equal(view.name, "xxx");
    atomic_store(&loop->name, 1);
    assert_true(feed_reader_loop(both->reader, 1, &view));
    assert_int_equal(strlen(view.name), FEED_NAME_MAX);
}

static void what_the_service_tells_stands_in_the_feed(void **state)
{
    struct both *both = *state;
    struct feed_loop *loop = begin(both);
    const struct feed_control *control = &both->writer.header->control;
    uint32_t changes = atomic_load(&control->changes);
    int64_t woken_ns = 0;

    feed_reader_loop_ask_end(both->reader, 1, 9);
    assert_int_equal(atomic_load(&loop->end_asked), 9);
    feed_reader_loop_note_begins(both->reader, 1, 6);
    assert_int_equal(atomic_load(&loop->note_base), 6);
    assert_int_equal(atomic_load(&loop->note_from), 6);
    feed_reader_loop_ping(both->reader, 1);
    assert_int_equal(atomic_load(&loop->ping_asked), 1);
    assert_int_equal(atomic_load(&control->pings), 1);
    feed_reader_watch_loops(both->reader, FEED_WATCH_ALL);
    assert_int_equal(atomic_load(&control->watch_loops), FEED_WATCH_ALL);
    assert_int_equal(atomic_load(&control->changes), changes + 1);
    feed_reader_loops_rest(both->reader);
    assert_true(feed_reader_loops_resting(both->reader, &woken_ns));
    feed_reader_loops_wake(both->reader);
    assert_false(feed_reader_loops_resting(both->reader, &woken_ns));
    /* Of entries that there are not: nothing. */
    feed_reader_loop_ask_end(both->reader, FEED_LOOPS_MAX, 9);
    feed_reader_loop_note_begins(both->reader, 0, 9);
    feed_reader_loop_ping(both->reader, 0);
    feed_reader_loop_recycle(both->reader, UINT32_MAX);
    assert_int_equal(atomic_load(&control->pings), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_both, free_both)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_feed_begins_without_loops),
        TEST(a_loop_is_read_as_it_was_written),
        TEST(an_entry_that_is_taken_again_begins_anew),
        TEST(only_a_loop_that_ended_is_given_back),
        TEST(nonsense_is_not_believed),
        TEST(a_name_that_lies_nowhere_is_none),
        TEST(a_name_that_does_not_end_is_cut),
        TEST(what_the_service_tells_stands_in_the_feed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
