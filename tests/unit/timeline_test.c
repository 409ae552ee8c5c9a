/* What programs tell, out of feeds, as a timeline: windows, who follows, what is recorded. */
#include "sampler/profile/timeline.h"

#include "fake_events.h"
#include "sampler/profile/control.h"
#include "sampler/profile/profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>

struct fixture {
    struct profile *profile;
    struct fake_feed feed;
    uint64_t id;
    uint32_t slot;
};

static int open_fixture(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    struct profile_peer peer = {
        .pid = getpid(), .ppid = 1, .clock = -1, .faults = -1, .exe = "/usr/bin/program"
    };

    *state = fixture;
    fake_feed_open(&fixture->feed, getpid());
    fixture->slot = fake_feed_thread(&fixture->feed, 7, "main");
    if (profile_new(&fixture->profile, &(struct profile_options){ .settings.enabled = true }) < 0)
        return -1;
    return profile_attach(fixture->profile, fake_feed_memfd(&fixture->feed), &peer, &fixture->id);
}

static int close_fixture(void **state)
{
    struct fixture *fixture = *state;

    profile_free(fixture->profile);
    fake_feed_close(&fixture->feed);
    free(fixture);
    return 0;
}

/* Of the thread, and not what the service tells itself. */
static struct timeline *take(struct fixture *fixture, struct timeline_window window)
{
    struct timeline *timeline;

    window.process_id = fixture->id;
    window.tid = 7;
    profile_sync(fixture->profile);
    assert_int_equal(timeline_take(&timeline, fixture->profile, &window), 0);
    return timeline;
}

/* Names and depths, in words. */
static void assert_events(struct timeline *timeline, const char *expected)
{
    static const char *const marks[] = { "", "~", "|", "?" };
    struct timeline_event event;
    char text[4096] = "";
    uint64_t cursor = 0;

    while (timeline_next(timeline, &cursor, &event)) {
        size_t used = strlen(text);

        snprintf(text + used, sizeof(text) - used, "%s%s%s@%u", used ? " " : "", marks[event.mark],
                 event.name, event.depth);
    }
    assert_string_equal(text, expected);
}

static void events_of_a_feed_come_out_paired(void **state)
{
    struct fixture *fixture = *state;
    const struct fake_argument value = { "fps", FEED_ARGUMENT_INT, 60, NULL };
    struct timeline *timeline;
    struct timeline_event event;
    uint64_t cursor = 0;

    fake_begin(&fixture->feed, fixture->slot, 1000, "outer");
    fake_begin(&fixture->feed, fixture->slot, 2000, "inner");
    fake_end(&fixture->feed, fixture->slot, 3000);
    fake_event(&fixture->feed, fixture->slot, FEED_EVENT_COUNTER, 3500, "rate", 0, 0, &value, 1);
    fake_end(&fixture->feed, fixture->slot, 4000);
    fake_begin(&fixture->feed, fixture->slot, 5000, "open");
    timeline = take(fixture, (struct timeline_window){ .open = true });
    assert_events(timeline, "inner@1 rate@0 outer@0 ~open@0");
    assert_true(timeline_next(timeline, &cursor, &event));
    assert_int_equal(event.kind, TIMELINE_SLICE);
    assert_int_equal(event.start_ns, 2000);
    assert_int_equal(event.duration_ns, 1000);
    assert_string_equal(event.thread_name, "main");
    assert_string_equal(event.stream, "Dart");
    assert_int_equal(event.process_id, fixture->id);
    assert_true(timeline_next(timeline, &cursor, &event));
    assert_int_equal(event.kind, TIMELINE_COUNTER);
    assert_string_equal(event.arguments[0].name, "fps");
    assert_int_equal(event.arguments[0].integer, 60);
    timeline_free(timeline);
}

static void with_a_cursor_as_it_was_the_same_event_comes_again(void **state)
{
    struct fixture *fixture = *state;
    struct timeline *timeline;
    struct timeline_event event;
    uint64_t cursors[101] = { 0 };

    for (int i = 0; i < 100; i++)
        fake_event(&fixture->feed, fixture->slot, FEED_EVENT_INSTANT, 1000 + i, "tick", 0, 0, NULL,
                   0);
    timeline = take(fixture, (struct timeline_window){ 0 });
    for (int i = 0; i < 100; i++) {
        cursors[i + 1] = cursors[i];
        assert_true(timeline_next(timeline, &cursors[i + 1], &event));
    }
    for (int i = 99; i >= 0; i--) {
        uint64_t cursor = cursors[i];

        assert_true(timeline_next(timeline, &cursor, &event));
        assert_int_equal(event.start_ns, 1000 + i);
        assert_true(cursor == cursors[i + 1]);
    }
    timeline_free(timeline);
}

static void who_follows_gets_what_is_new_a_few_at_a_time(void **state)
{
    struct fixture *fixture = *state;
    struct timeline_cursor since = { 0 };
    struct timeline *timeline;

    for (int i = 0; i < 3; i++)
        fake_event(&fixture->feed, fixture->slot, FEED_EVENT_INSTANT, 1000 + i, "first", 0, 0, NULL,
                   0);
    timeline = take(fixture, (struct timeline_window){ .since = &since, .count_max = 2 });
    assert_events(timeline, "first@0 first@0");
    assert_true(timeline_more(timeline));
    since = timeline_cursor(timeline);
    timeline_free(timeline);
    timeline = take(fixture, (struct timeline_window){ .since = &since, .count_max = 2 });
    assert_events(timeline, "first@0");
    assert_false(timeline_more(timeline));
    since = timeline_cursor(timeline);
    timeline_free(timeline);
    fake_event(&fixture->feed, fixture->slot, FEED_EVENT_INSTANT, 2000, "second", 0, 0, NULL, 0);
    timeline = take(fixture, (struct timeline_window){ .since = &since, .count_max = 2 });
    assert_events(timeline, "second@0");
    assert_false(timeline_reset(timeline));
    timeline_free(timeline);
}

static void what_is_cleared_is_void_for_who_follows(void **state)
{
    struct fixture *fixture = *state;
    struct timeline_cursor since = { 0 };
    struct timeline *timeline;

    fake_begin(&fixture->feed, fixture->slot, 1000, "open");
    fake_event(&fixture->feed, fixture->slot, FEED_EVENT_INSTANT, 1500, "gone", 0, 0, NULL, 0);
    timeline = take(fixture, (struct timeline_window){ .since = &since });
    since = timeline_cursor(timeline);
    timeline_free(timeline);
    profile_timeline_clear(fixture->profile, 0);
    assert_int_equal(profile_timeline_history(fixture->profile).events, 0);
    fake_end(&fixture->feed, fixture->slot, 2000);
    timeline = take(fixture, (struct timeline_window){ .since = &since });
    assert_true(timeline_reset(timeline));
    assert_events(timeline, "open@0");
    since = timeline_cursor(timeline);
    timeline_free(timeline);
    timeline = take(fixture, (struct timeline_window){ .since = &since });
    assert_false(timeline_reset(timeline));
    assert_events(timeline, "");
    timeline_free(timeline);
}

static void a_window_has_what_overlaps_it_and_is_of_its_kinds(void **state)
{
    struct fixture *fixture = *state;
    struct timeline_window window = { .bounded = true, .origin_us = 3, .extent_us = 1 };
    struct timeline *timeline;

    fake_begin(&fixture->feed, fixture->slot, 1000, "around");
    fake_event(&fixture->feed, fixture->slot, FEED_EVENT_INSTANT, 2999, "before", 0, 0, NULL, 0);
    fake_event(&fixture->feed, fixture->slot, FEED_EVENT_INSTANT, 3000, "first", 0, 0, NULL, 0);
    fake_event(&fixture->feed, fixture->slot, FEED_EVENT_INSTANT, 4999, "last", 0, 0, NULL, 0);
    fake_event(&fixture->feed, fixture->slot, FEED_EVENT_INSTANT, 5000, "behind", 0, 0, NULL, 0);
    fake_end(&fixture->feed, fixture->slot, 9000);
    timeline = take(fixture, window);
    assert_events(timeline, "first@0 last@0 around@0");
    timeline_free(timeline);
    window.kinds = 1u << TIMELINE_SLICE;
    timeline = take(fixture, window);
    assert_events(timeline, "around@0");
    timeline_free(timeline);
}

static uint64_t wanted(struct fixture *fixture)
{
    profile_sync(fixture->profile);
    return atomic_load(&fixture->feed.writer.header->control.streams);
}

static void programs_are_told_which_streams_are_wanted(void **state)
{
    enum { VMS = 9 }; /* of which a feed has places for some */
    static const char *const names[] = { "GC", "mine" };
    struct fixture *fixture = *state;
    const char *streams[16];
    size_t count;

    assert_true(wanted(fixture) == UINT64_MAX);
    feed_events_stream(&fixture->feed.writer, FEED_STREAM_COUNT, "mine");
    feed_events_stream(&fixture->feed.writer, FEED_STREAM_COUNT + 1, "other");
    assert_true(wanted(fixture) == UINT64_MAX);
    count = profile_timeline_streams(fixture->profile, streams, 16);
    assert_int_equal(count, VMS + 2);
    assert_string_equal(streams[VMS], "mine");
    assert_int_equal(profile_timeline_record(fixture->profile, names, 2, false), 0);
    for (uint32_t place = 0; place < FEED_STREAM_COUNT + 2; place++)
        assert_int_equal(wanted(fixture) >> place & 1,
                         place == FEED_STREAM_GC || place == FEED_STREAM_COUNT);
    assert_true(profile_timeline_records(fixture->profile, "mine"));
    assert_false(profile_timeline_records(fixture->profile, "Dart"));
    assert_false(profile_timeline_records(fixture->profile, "not yet known"));
    assert_int_equal(profile_timeline_record(fixture->profile, streams, count, true), 0);
    assert_true(wanted(fixture) == UINT64_MAX);
}

static void a_process_that_stops_cuts_its_slices_off(void **state)
{
    struct fixture *fixture = *state;
    struct timeline *timeline;

    fake_begin(&fixture->feed, fixture->slot, 1000, "outer");
    fake_begin(&fixture->feed, fixture->slot, 2000, "inner");
    fake_feed_stop(&fixture->feed);
    timeline = take(fixture, (struct timeline_window){ .open = true });
    assert_events(timeline, "|inner@1 |outer@0");
    timeline_free(timeline);
}

static void lost_events_are_told_where_they_are_missing(void **state)
{
    struct fixture *fixture = *state;
    struct timeline *timeline;

    fake_begin(&fixture->feed, fixture->slot, 1000, "outer");
    fake_event(&fixture->feed, fixture->slot, FEED_EVENT_LOST, 2000, NULL, 12,
               FEED_LOST_SLICES(0, 1), NULL, 0);
    fake_end(&fixture->feed, fixture->slot, 3000);
    fake_end(&fixture->feed, fixture->slot, 4000);
    timeline = take(fixture, (struct timeline_window){ 0 });
    assert_events(timeline, "Events lost@0 ?@1 outer@0");
    timeline_free(timeline);
}

static void a_time_that_cannot_be_is_counted_and_left_out(void **state)
{
    struct fixture *fixture = *state;
    struct process_info info;
    struct timeline *timeline;

    fake_event(&fixture->feed, fixture->slot, FEED_EVENT_INSTANT, INT64_MAX, "late", 0, 0, NULL, 0);
    fake_event(&fixture->feed, fixture->slot, FEED_EVENT_INSTANT, -1, "early", 0, 0, NULL, 0);
    fake_event(&fixture->feed, fixture->slot, FEED_EVENT_COMPLETE, 5, "long", 0, UINT64_MAX, NULL,
               0);
    timeline = take(fixture, (struct timeline_window){ 0 });
    assert_events(timeline, "");
    timeline_free(timeline);
    assert_true(profile_process(fixture->profile, fixture->id, &info));
    assert_int_equal(info.corrupt, 3);
}

/* Its own words on what it does, of no thread of the program. */
static void the_service_tells_how_it_samples(void **state)
{
    struct fixture *fixture = *state;
    struct timeline_window window = { .process_id = fixture->id };
    struct feed_settings settings = profile_settings(fixture->profile);
    struct timeline *timeline;
    struct timeline_event event;
    uint64_t cursor = 0;
    int sampling = 0;

    profile_sync(fixture->profile);
    settings.period_us = 5000;
    profile_apply_settings(fixture->profile, &settings);
    profile_sync(fixture->profile);
    assert_int_equal(timeline_take(&timeline, fixture->profile, &window), 0);
    assert_true(timeline_next(timeline, &cursor, &event));
    assert_string_equal(event.name, "Process attached");
    assert_string_equal(event.stream, "VM");
    assert_int_equal(event.tid, 0);
    assert_true(timeline_next(timeline, &cursor, &event));
    assert_string_equal(event.name, "Thread started");
    while (timeline_next(timeline, &cursor, &event)) {
        assert_string_equal(event.name, "Sampling");
        assert_string_equal(event.arguments[2].name, "periodMicros");
        sampling++;
    }
    assert_int_equal(event.arguments[2].count, 5000);
    assert_true(sampling >= 2);
    timeline_free(timeline);
}

/* Whether the next event of the service on the stream VM is that one, with that argument. */
static void assert_next(struct timeline *timeline, uint64_t *cursor, const char *name,
                        const char *argument)
{
    struct timeline_event event;
    char value[64];

    do
        assert_true(timeline_next(timeline, cursor, &event));
    while (strcmp(event.stream, "VM") != 0);
    assert_string_equal(event.name, name);
    assert_true(event.start_ns >= 0);
    if (!event.argument_count)
        *value = '\0';
    else if (event.arguments[0].type == FEED_ARGUMENT_TEXT)
        snprintf(value, sizeof(value), "%s", event.arguments[0].text);
    else
        snprintf(value, sizeof(value), "%u", (unsigned)event.arguments[0].count);
    assert_string_equal(value, argument);
}

static void threads_and_libraries_that_come_while_it_runs_are_told(void **state)
{
    struct fixture *fixture = *state;
    struct timeline_window window = { .process_id = fixture->id };
    struct timeline *timeline;
    struct timeline_event event;
    uint64_t cursor = 0;
    uint32_t slot;

    fake_feed_thread(&fixture->feed, getpid(), "main"); /* whose start is the process' */
    fake_feed_module(&fixture->feed, "/usr/bin/program");
    profile_sync(fixture->profile);
    fake_feed_module(&fixture->feed, "/usr/lib/libc.so.6"); /* the program looks for them still */
    profile_sync(fixture->profile);
    profile_sync(fixture->profile);
    fake_feed_module(&fixture->feed, "/usr/lib/plugin.so");
    slot = fake_feed_thread(&fixture->feed, 9, "worker");
    profile_sync(fixture->profile);
    feed_writer_thread_end(&fixture->feed.writer, slot);
    fake_feed_stop(&fixture->feed); /* what is drained last has no time up to which */
    profile_sync(fixture->profile);
    assert_int_equal(timeline_take(&timeline, fixture->profile, &window), 0);
    assert_true(timeline_next(timeline, &cursor, &event));
    assert_string_equal(event.name, "Process attached");
    assert_next(timeline, &cursor, "Thread started", "7");
    assert_next(timeline, &cursor, "Thread started", "9");
    assert_next(timeline, &cursor, "Library loaded", "/usr/lib/plugin.so");
    assert_next(timeline, &cursor, "Thread ended", "9");
    assert_next(timeline, &cursor, "Process ended", "");
    assert_false(timeline_next(timeline, &cursor, &event));
    timeline_free(timeline);
}

static void a_library_that_went_is_told_once(void **state)
{
    struct fixture *fixture = *state;
    struct timeline_window window = { .process_id = fixture->id };
    char own[4096] = { 0 };
    struct timeline *timeline;
    struct timeline_event event;
    uint64_t cursor = 0;

    assert_true(readlink("/proc/self/exe", own, sizeof(own) - 1) > 0);
    fake_feed_module(&fixture->feed, own);
    fake_feed_module(&fixture->feed, "/usr/lib/gone.so");
    profile_sync(fixture->profile);
    profile_sync(fixture->profile);
    atomic_fetch_add(&fixture->feed.writer.header->status.unloads, 2);
    profile_sync(fixture->profile);
    profile_sync(fixture->profile);
    assert_int_equal(timeline_take(&timeline, fixture->profile, &window), 0);
    assert_true(timeline_next(timeline, &cursor, &event));
    assert_string_equal(event.name, "Process attached");
    assert_next(timeline, &cursor, "Thread started", "7");
    assert_next(timeline, &cursor, "Library unloaded", "/usr/lib/gone.so");
    assert_false(timeline_next(timeline, &cursor, &event));
    timeline_free(timeline);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(events_of_a_feed_come_out_paired),
        TEST(with_a_cursor_as_it_was_the_same_event_comes_again),
        TEST(who_follows_gets_what_is_new_a_few_at_a_time),
        TEST(what_is_cleared_is_void_for_who_follows),
        TEST(a_window_has_what_overlaps_it_and_is_of_its_kinds),
        TEST(programs_are_told_which_streams_are_wanted),
        TEST(a_process_that_stops_cuts_its_slices_off),
        TEST(lost_events_are_told_where_they_are_missing),
        TEST(a_time_that_cannot_be_is_counted_and_left_out),
        TEST(the_service_tells_how_it_samples),
        TEST(threads_and_libraries_that_come_while_it_runs_are_told),
        TEST(a_library_that_went_is_told_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
