/* What a program tells by event.h, as the service reads it. */
#include "sampler/capture/events/event_thread.h"

#include "sampler/capture/sampler_state.h"
#include "sampler/capture/threads/tasks.h"
#include "sampler/feed/feed_reader.h"
#include "sampler/include/isoscope/isoscope.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
/* cmocka wants the headers above first */
#include <cmocka.h>

static struct feed_reader *reader;
static struct feed_event_parts event;
static char text[FEED_NAME_MAX + 1];

/* A sampler of this process whose clock does not tick, and whose feed is read here. */
static void begin_feed(void)
{
    int memfd;

    assert_int_equal(feed_writer_create(&sampler.writer, &memfd, getpid(), 0), 0);
    assert_int_equal(feed_reader_open(&reader, memfd), 0);
    sampler.pid = getpid();
    tasks_take_all(&sampler.threads);
    atomic_store(&sampler.running, RUN_ON);
    event_epoch_begin();
}

static int set_up(void **state)
{
    (void)state;
    signal(SIGURG, SIG_IGN);
    sampler.threads = (struct threads){ .writer = &sampler.writer, .signal_number = SIGURG };
    sampler.threads.rights.wish = FEED_TIMER_WISH_CPU;
    if (threads_new(&sampler.threads) < 0)
        return -1;
    begin_feed();
    return 0;
}

static void end_feed(void)
{
    event_epoch_end();
    atomic_store(&sampler.running, RUN_STOPPED);
    threads_stop(&sampler.threads);
    feed_reader_free(reader);
    assert_true(event_epoch_is_left(&sampler.threads));
    feed_writer_destroy(&sampler.writer);
}

static int tear_down(void **state)
{
    (void)state;
    end_feed();
    event_thread_forget();
    return 0;
}

static uint32_t own_slot(void)
{
    return threads_find(&sampler.threads, gettid());
}

static bool next_event(uint32_t slot)
{
    return feed_reader_next_event(reader, slot, &event);
}

static const char *name_at(uint32_t place)
{
    return feed_reader_name(reader, place, text) ? text : "";
}

static void assert_next(enum feed_event_phase phase, const char *name)
{
    assert_true(next_event(own_slot()));
    assert_int_equal(event.phase, phase);
    assert_string_equal(name_at(event.name), name);
}

static uint64_t lost(enum feed_event_loss cause)
{
    return atomic_load(&sampler.writer.header->status.events_lost[cause]);
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void a_slice_begins_and_ends_in_its_stream_on_the_samples_clock(void **state)
{
    uint64_t before = now_ns(), after;

    (void)state;
    ISOSCOPE_BEGIN("GC", "mark");
    ISOSCOPE_END("GC");
    after = now_ns();
    assert_next(FEED_EVENT_BEGIN, "mark");
    assert_int_equal(event.stream, FEED_STREAM_GC);
    assert_in_range(event.timestamp_ns, before, after);
    before = (uint64_t)event.timestamp_ns;
    assert_next(FEED_EVENT_END, "");
    assert_int_equal(event.stream, FEED_STREAM_GC);
    assert_in_range(event.timestamp_ns, before, after);
    assert_false(next_event(own_slot()));
}

static void scoped(bool early)
{
    ISOSCOPE_SCOPE("API", "outer");
    ISOSCOPE_SCOPE("API", "inner");
    if (early)
        return;
    ISOSCOPE_INSTANT("API", "late");
}

static void a_scope_ends_however_it_is_left(void **state)
{
    (void)state;
    scoped(true);
    assert_next(FEED_EVENT_BEGIN, "outer");
    assert_next(FEED_EVENT_BEGIN, "inner");
    assert_next(FEED_EVENT_END, "");
    assert_next(FEED_EVENT_END, "");
    assert_false(next_event(own_slot()));
}

static void each_kind_has_its_words(void **state)
{
    const struct isoscope_frame frame = { .struct_size = sizeof frame,
                                          .has_parts = 1,
                                          .number = 5,
                                          .start_ns = 1000,
                                          .elapsed_ns = 16000000,
                                          .build_ns = 4000,
                                          .raster_ns = 9000,
                                          .vsync_overhead_ns = 1000 };

    (void)state;
    ISOSCOPE_COMPLETE("Embedder", "load", 1000, 234);
    assert_next(FEED_EVENT_COMPLETE, "load");
    assert_int_equal(event.timestamp_ns, 1000);
    assert_int_equal(event.duration_ns, 234);
    ISOSCOPE_ASYNC_BEGIN("Dart", "fetch", 77);
    ISOSCOPE_ASYNC_INSTANT("Dart", "fetch", 77);
    ISOSCOPE_ASYNC_END("Dart", "fetch", 77);
    for (int phase = FEED_EVENT_ASYNC_BEGIN; phase <= FEED_EVENT_ASYNC_END; phase++) {
        assert_next((enum feed_event_phase)phase, "fetch");
        assert_int_equal(event.id, 77);
    }
    ISOSCOPE_FLOW_BEGIN("Dart", "job", 78);
    ISOSCOPE_FLOW_STEP("Dart", "job", 78);
    ISOSCOPE_FLOW_END("Dart", "job", 78);
    for (int phase = FEED_EVENT_FLOW_BEGIN; phase <= FEED_EVENT_FLOW_END; phase++) {
        assert_next((enum feed_event_phase)phase, "job");
        assert_int_equal(event.id, 78);
    }
    isoscope_event_frame(&frame);
    assert_next(FEED_EVENT_FRAME, "Frame");
    assert_int_equal(event.id, 5);
    assert_int_equal(event.duration_ns, 16000000);
    assert_int_equal(event.argument_count, 3);
    assert_string_equal(name_at(event.arguments[1].name), "raster");
    assert_int_equal(event.arguments[1].value, 9);
}

static void arguments_have_their_types(void **state)
{
    double ratio;

    (void)state;
    ISOSCOPE_BEGIN_WITH("VM", "work", ISOSCOPE_INT("low", -5), ISOSCOPE_UINT("high", UINT64_MAX),
                        ISOSCOPE_DOUBLE("ratio", 0.25), ISOSCOPE_TEXT("why", "because"));
    assert_next(FEED_EVENT_BEGIN, "work");
    assert_int_equal(event.argument_count, 4);
    assert_string_equal(name_at(event.arguments[0].name), "low");
    assert_int_equal(event.arguments[0].type, FEED_ARGUMENT_INT);
    assert_true((int64_t)event.arguments[0].value == -5);
    assert_int_equal(event.arguments[1].type, FEED_ARGUMENT_UINT);
    assert_true(event.arguments[1].value == UINT64_MAX);
    memcpy(&ratio, &event.arguments[2].value, sizeof ratio);
    assert_true(ratio == 0.25);
    assert_int_equal(event.arguments[3].value, 7);
    assert_memory_equal(event.arguments[3].text, "because", 7);
    ISOSCOPE_COUNTER("VM", "heap", ISOSCOPE_UINT("used", 3));
    assert_next(FEED_EVENT_COUNTER, "heap");
    assert_int_equal(event.arguments[0].value, 3);
}

static void long_texts_and_names_are_cut_and_counted(void **state)
{
    enum { LONG = 64 * 1024 };
    char *large = malloc(LONG + 1);
    struct isoscope_site site = ISOSCOPE_SITE("API", large);
    struct isoscope_argument arguments[4];
    struct feed_status_view status;

    (void)state;
    memset(large, 0xff, LONG); /* no UTF-8 either */
    large[LONG] = 0;
    for (int i = 0; i < 4; i++)
        arguments[i] = (struct isoscope_argument)ISOSCOPE_TEXT(i ? "text" : NULL, large);
    isoscope_event_begin(&site, arguments, 4);
    assert_true(next_event(own_slot()));
    assert_int_equal(strlen(name_at(event.name)), FEED_NAME_MAX);
    assert_int_equal(event.argument_count, 4);
    assert_int_equal(event.arguments[0].name, 0);
    assert_int_equal(event.arguments[0].value, FEED_EVENT_TEXT_MAX);
    for (int i = 0; i < 4; i++)
        for (uint64_t at = 0; at < event.arguments[i].value; at++)
            assert_int_equal((uint8_t)event.arguments[i].text[at], 0xff);
    feed_reader_status(reader, &status);
    assert_int_equal(status.names_cut, 1);
    assert_int_equal(status.texts_cut, 4);
    assert_int_equal(feed_reader_corrupt(reader), 0);
    free(large);
}

static void too_many_names_are_counted_and_the_events_are_there(void **state)
{
    enum { MANY = 100000 };
    uint32_t named = 0, unnamed = 0;
    struct feed_status_view status;
    char name[32];

    (void)state;
    for (int i = 0; i < MANY; i++) {
        struct isoscope_site site = ISOSCOPE_SITE("API", name);

        snprintf(name, sizeof name, "made-up-%d", i);
        isoscope_event_begin(&site, NULL, 0);
        assert_true(next_event(own_slot()));
        named += event.name != 0;
        unnamed += event.name == 0;
    }
    feed_reader_status(reader, &status);
    assert_int_equal(named + unnamed, MANY);
    assert_true(named > 1000);
    assert_int_equal(status.names_full, unnamed);
    for (int loss = 0; loss < FEED_EVENT_LOSS_COUNT; loss++)
        assert_int_equal(status.events_lost[loss], 0);
}

static void streams_of_any_name_share_the_places_that_there_are(void **state)
{
    char names[80][16];

    (void)state;
    for (uint32_t i = 0; i < 80; i++) {
        struct isoscope_site site = ISOSCOPE_SITE(names[i], "x");

        snprintf(names[i], sizeof names[i], "stream-%u", i);
        isoscope_event_begin(&site, NULL, 0);
        assert_true(next_event(own_slot()));
        assert_true(feed_reader_stream(reader, event.stream, text));
        if (event.stream == FEED_STREAM_OTHERS)
            assert_string_equal(text, "others");
        else
            assert_string_equal(text, names[i]);
    }
    assert_int_equal(event.stream, FEED_STREAM_OTHERS);
    assert_int_equal(feed_reader_streams(reader), FEED_STREAMS_MAX);
}

static void an_argument_of_a_stream_that_is_off_is_not_evaluated(void **state)
{
    uint32_t asked = 0;

    (void)state;
    for (int i = 0; i < 3; i++) {
        if (i == 1)
            feed_reader_want_streams(reader, ~(UINT64_C(1) << FEED_STREAM_GC));
        ISOSCOPE_INSTANT_WITH("GC", "asked", ISOSCOPE_UINT("n", ++asked));
        ISOSCOPE_INSTANT("VM", "other");
    }
    assert_int_equal(asked, 2); /* the second one has found that it is off */
    assert_next(FEED_EVENT_INSTANT, "asked");
    for (int i = 0; i < 3; i++)
        assert_next(FEED_EVENT_INSTANT, "other");
    assert_false(next_event(own_slot()));
    feed_reader_want_streams(reader, UINT64_MAX);
    event_epoch_follow(true); /* as a tick does */
    ISOSCOPE_INSTANT_WITH("GC", "asked", ISOSCOPE_UINT("n", ++asked));
    assert_next(FEED_EVENT_INSTANT, "asked");
}

static void a_full_ring_counts_what_it_lost_and_says_so_when_there_is_room(void **state)
{
    uint64_t written = 0, lost_begins = 0;

    (void)state;
    ISOSCOPE_BEGIN("GC", "outer");
    while (!lost(FEED_EVENT_LOSS_RING_FULL)) {
        ISOSCOPE_INSTANT("GC", "filler");
        written++;
    }
    ISOSCOPE_END("GC");
    for (; lost_begins < 3; lost_begins++)
        ISOSCOPE_BEGIN("GC", "unseen");
    ISOSCOPE_END("GC");
    assert_next(FEED_EVENT_BEGIN, "outer");
    while (--written)
        assert_next(FEED_EVENT_INSTANT, "filler");
    assert_false(next_event(own_slot()));
    ISOSCOPE_INSTANT("GC", "again");
    assert_next(FEED_EVENT_LOST, "");
    assert_int_equal(event.id, 6);
    assert_int_equal(FEED_LOST_ENDED(event.duration_ns), 1);
    assert_int_equal(FEED_LOST_BEGUN(event.duration_ns), 2);
    assert_next(FEED_EVENT_INSTANT, "again");
    assert_int_equal(lost(FEED_EVENT_LOSS_RING_FULL), 6);
}

/* A signal handler of the program's in the middle of a write. */
static void what_comes_in_the_middle_of_an_event_is_refused_and_counted(void **state)
{
    struct event_write write;

    (void)state;
    ISOSCOPE_INSTANT("GC", "first");
    assert_true(event_thread_open(&write));
    ISOSCOPE_BEGIN("GC", "from a handler");
    ISOSCOPE_END("GC");
    assert_true(event_thread_close(&write));
    assert_int_equal(lost(FEED_EVENT_LOSS_BUSY), 2);
    ISOSCOPE_INSTANT("GC", "last");
    assert_next(FEED_EVENT_INSTANT, "first");
    assert_next(FEED_EVENT_LOST, "");
    assert_int_equal(event.id, 2);
    assert_true(event.duration_ns == FEED_LOST_SLICES(0, 0));
    assert_next(FEED_EVENT_INSTANT, "last");
}

/* By longjmp, say. */
static void a_write_that_never_ends_is_given_up(void **state)
{
    struct event_write write;

    (void)state;
    ISOSCOPE_INSTANT("GC", "first");
    assert_true(event_thread_open(&write));
    for (int i = 0; i < EVENT_REFUSALS_MAX; i++)
        ISOSCOPE_INSTANT("GC", "behind it");
    assert_int_equal(lost(FEED_EVENT_LOSS_BUSY), EVENT_REFUSALS_MAX - 1);
    assert_next(FEED_EVENT_INSTANT, "first");
    assert_next(FEED_EVENT_LOST, "");
    assert_next(FEED_EVENT_INSTANT, "behind it");
}

static void *tell_from_a_thread(void *unused)
{
    ISOSCOPE_INSTANT("GC", "of a thread");
    return unused;
}

static void a_thread_that_nobody_told_of_has_a_ring_with_its_first_event(void **state)
{
    pthread_t thread;

    (void)state;
    ISOSCOPE_INSTANT("GC", "own");
    assert_int_equal(pthread_create(&thread, NULL, tell_from_a_thread, NULL), 0);
    pthread_join(thread, NULL);
    assert_int_equal(own_slot(), 1);
    assert_true(next_event(2));
    assert_string_equal(name_at(event.name), "of a thread");
    assert_next(FEED_EVENT_INSTANT, "own");
}

static void begin_named(void)
{
    ISOSCOPE_BEGIN("own stream", "kept");
}

static void names_are_put_into_the_next_feed_anew(void **state)
{
    (void)state;
    begin_named();
    assert_next(FEED_EVENT_BEGIN, "kept");
    end_feed();
    begin_named(); /* nothing, and harmless */
    begin_feed();
    ISOSCOPE_INSTANT("GC", "other names come first");
    begin_named();
    assert_next(FEED_EVENT_INSTANT, "other names come first");
    assert_next(FEED_EVENT_BEGIN, "kept");
    assert_true(feed_reader_stream(reader, event.stream, text));
    assert_string_equal(text, "own stream");
}

static void a_child_that_was_forked_without_libc_writes_nothing(void **state)
{
    int status;
    pid_t child;

    (void)state;
    ISOSCOPE_INSTANT("GC", "before");
    child = (pid_t)syscall(SYS_fork);
    if (child == 0) {
        ISOSCOPE_BEGIN("GC", "in the child");
        syscall(SYS_exit_group, 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_next(FEED_EVENT_INSTANT, "before");
    assert_false(next_event(own_slot()));
}

static _Atomic bool quits;

static void *tell_until_the_end(void *unused)
{
    while (!atomic_load(&quits)) {
        ISOSCOPE_SCOPE("GC", "again and again");
    }
    return unused;
}

static void a_feed_goes_while_threads_write_events(void **state)
{
    enum { THREADS = 3, TURNS = 20 };
    pthread_t threads[THREADS];

    (void)state;
    atomic_store(&quits, false);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, tell_until_the_end, NULL), 0);
    for (int turn = 0; turn < TURNS; turn++) {
        while (atomic_load(&sampler.writer.header->status.event_rings_used) < THREADS)
            sched_yield();
        end_feed();
        begin_feed();
    }
    atomic_store(&quits, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(feed_reader_corrupt(reader), 0);
}

int main(void)
{
#define EVENT_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        EVENT_TEST(a_slice_begins_and_ends_in_its_stream_on_the_samples_clock),
        EVENT_TEST(a_scope_ends_however_it_is_left),
        EVENT_TEST(each_kind_has_its_words),
        EVENT_TEST(arguments_have_their_types),
        EVENT_TEST(long_texts_and_names_are_cut_and_counted),
        EVENT_TEST(too_many_names_are_counted_and_the_events_are_there),
        EVENT_TEST(an_argument_of_a_stream_that_is_off_is_not_evaluated),
        EVENT_TEST(a_full_ring_counts_what_it_lost_and_says_so_when_there_is_room),
        EVENT_TEST(what_comes_in_the_middle_of_an_event_is_refused_and_counted),
        EVENT_TEST(a_write_that_never_ends_is_given_up),
        EVENT_TEST(a_thread_that_nobody_told_of_has_a_ring_with_its_first_event),
        EVENT_TEST(names_are_put_into_the_next_feed_anew),
        EVENT_TEST(a_child_that_was_forked_without_libc_writes_nothing),
        EVENT_TEST(a_feed_goes_while_threads_write_events),
        EVENT_TEST(streams_of_any_name_share_the_places_that_there_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
