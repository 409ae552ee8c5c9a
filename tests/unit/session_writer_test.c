#include "sampler/profile/session/session_writer.h"

#include "profile_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { SECOND_US = 1000000 };

static int open_fixture(void **state)
{
    *state = fixture_begin(NULL);
    return fixture_attach(*state);
}

static int close_fixture(void **state)
{
    return fixture_end(*state);
}

static void add_sample(struct fixture *fixture)
{
    const uint64_t frame = FEED_FRAME(fixture->module, A);

    fixture->time_us += 1000;
    fixture->feed.writer.header->status.ticks++;
    assert_true(fake_feed_write(
        &fixture->feed, fixture->slot,
        &(struct fake_sample){
            .timestamp_us = fixture->time_us, .cpu_ns = 1000000, .depth = 1, .frames = &frame }));
    profile_sync(fixture->profile);
}

/* How many blocks of that type there are; the bytes are gone then. */
static size_t take_count(struct bytes *bytes, const char *type)
{
    size_t count = 0, at = 0;

    while (at + 20 <= bytes->count) {
        uint32_t stored;

        memcpy(&stored, bytes->data + at + 4, 4);
        count += !memcmp(bytes->data + at, type, 4);
        at += 20 + stored;
    }
    assert_int_equal(at, bytes->count);
    bytes_clear(bytes);
    return count;
}

static size_t told_processes(struct session_writer *writer, int64_t now_us, struct bytes *out)
{
    assert_int_equal(session_writer_samples(writer, out), 1);
    assert_int_equal(session_writer_tables(writer, now_us, out), 0);
    return take_count(out, "PROC");
}

/* They change with each sample, and cost as much as a dozen of them. */
static void what_is_only_counted_is_told_each_five_seconds_and_at_the_end(void **state)
{
    static const struct session_options options;
    struct fixture *fixture = *state;
    struct session_writer *writer;
    struct bytes out = { 0 };

    assert_int_equal(session_writer_new(&writer, fixture->profile, &options, true), 0);
    assert_int_equal(session_writer_begin(writer, SECOND_US, &out), 0);
    bytes_clear(&out);
    add_sample(fixture);
    assert_true(told_processes(writer, SECOND_US, &out) > 0);
    for (int second = 2; second < 6; second++) {
        add_sample(fixture);
        assert_int_equal(told_processes(writer, second * SECOND_US, &out), 0);
    }
    add_sample(fixture);
    assert_int_equal(told_processes(writer, 6 * SECOND_US, &out), 1);
    add_sample(fixture);
    assert_int_equal(told_processes(writer, 7 * SECOND_US, &out), 0);
    assert_int_equal(session_writer_end(writer, 8 * SECOND_US, &out), 0);
    assert_int_equal(take_count(&out, "PROC"), 1);
    bytes_free(&out);
    session_writer_free(writer);
}

static void a_process_that_is_new_is_told_at_once(void **state)
{
    static const struct session_options options;
    struct fixture *fixture = *state;
    struct session_writer *writer;
    struct bytes out = { 0 };
    struct fake_feed other;

    assert_int_equal(session_writer_new(&writer, fixture->profile, &options, true), 0);
    assert_int_equal(session_writer_begin(writer, SECOND_US, &out), 0);
    bytes_clear(&out);
    add_sample(fixture);
    assert_true(told_processes(writer, SECOND_US, &out) > 0);
    fake_feed_open(&other, getppid());
    assert_int_not_equal(fixture_attach_feed(fixture, &other, getppid()), 0);
    assert_int_equal(session_writer_tables(writer, SECOND_US + 1, &out), 0);
    assert_int_equal(take_count(&out, "PROC"), 1);
    bytes_free(&out);
    session_writer_free(writer);
    fake_feed_close(&other);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)
    const struct CMUnitTest tests[] = {
        TEST(what_is_only_counted_is_told_each_five_seconds_and_at_the_end),
        TEST(a_process_that_is_new_is_told_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
