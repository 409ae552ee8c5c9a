/* Windows for clients that can only count: a sample is told as often as the periods it stands for.
 */
#include "sampler/profile/snapshot.h"

#include "fake_feed.h"
#include "sampler/feed/cleanup.h"
#include "sampler/include/isoscope/isoscope.h"
#include "sampler/profile/profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { THREADS = 4, PERIOD_US = 1000, TOLD_MAX = 64 };

struct fixture {
    struct profile *profile;
    struct fake_feed feed;
    uint64_t id;
    uint32_t slots[THREADS], module;
};

/* What a reader sees. */
struct told {
    uint32_t count;
    int64_t times_us[TOLD_MAX];
    int32_t tids[TOLD_MAX];
};

static void set_wall_mode(struct profile *profile)
{
    struct feed_settings settings = profile_settings(profile);

    settings.mode = FEED_MODE_WALL;
    profile_apply_settings(profile, &settings);
}

static int open_fixture(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    struct profile_options options = { .settings = { .enabled = true, .period_us = PERIOD_US } };
    struct profile_peer peer = {
        .pid = getpid(), .clock = -1, .faults = -1, .exe = "/usr/bin/program"
    };

    fake_feed_open(&fixture->feed, getpid());
    for (int thread = 0; thread < THREADS; thread++)
        fixture->slots[thread] = fake_feed_thread(&fixture->feed, 7 + thread, "main");
    fixture->module = fake_feed_module(&fixture->feed, "/nowhere/app");
    *state = fixture;
    if (profile_new(&fixture->profile, &options) < 0)
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

static void sample(struct fixture *fixture, int thread, int64_t time_us, uint64_t cpu_us,
                   enum feed_state doing)
{
    uint64_t frame = FEED_FRAME(fixture->module, 0x100 + 0x10 * thread);

    assert_true(fake_feed_write(&fixture->feed, fixture->slots[thread],
                                &(struct fake_sample){ .timestamp_us = time_us,
                                                       .cpu_ns = cpu_us * 1000,
                                                       .state = (uint8_t)doing,
                                                       .depth = 1,
                                                       .frames = &frame }));
}

static struct snapshot *take(struct fixture *fixture, struct snapshot_window window)
{
    struct snapshot *snapshot = NULL;

    window.process_id = fixture->id;
    window.counted = true;
    profile_sync(fixture->profile);
    assert_int_equal(snapshot_take(&snapshot, fixture->profile, &window), 0);
    return snapshot;
}

static struct told read_all(struct snapshot *snapshot)
{
    struct snapshot_sample sample;
    struct told told = { 0 };
    uint32_t cursor = 0;

    while (snapshot_next(snapshot, &cursor, &sample)) {
        assert_true(told.count < TOLD_MAX);
        told.times_us[told.count] = sample.timestamp_us;
        told.tids[told.count++] = sample.tid;
        assert_true(sample.timestamp_us >= snapshot_first_us(snapshot));
        assert_true(sample.timestamp_us <= snapshot_last_us(snapshot));
    }
    assert_int_equal(told.count, snapshot_sample_count(snapshot));
    return told;
}

static uint32_t of_thread(const struct told *told, int32_t tid)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < told->count; i++)
        count += told->tids[i] == tid;
    return count;
}

/* Two threads of 16 ms each; one was throttled to an eighth. */
static void a_throttled_thread_is_told_as_often_as_another_one_of_its_time(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
    const struct snapshot_function *functions;
    uint32_t count;
    struct told told;

    for (int i = 1; i <= 16; i++)
        sample(fixture, 0, 100000 + i * 1000, 1000, FEED_STATE_RUNNING);
    for (int i = 1; i <= 2; i++)
        sample(fixture, 1, 100000 + i * 8000 + 3, 8000, FEED_STATE_RUNNING);
    snapshot = take(fixture, (struct snapshot_window){ 0 });
    told = read_all(snapshot);
    assert_int_equal(of_thread(&told, 7), 16);
    assert_int_equal(of_thread(&told, 8), 16);
    functions = snapshot_functions(snapshot, &count);
    assert_int_equal(count, 2);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(functions[i].exclusive, 16);
    told = read_all(snapshot); /* again, from the beginning */
    assert_int_equal(told.count, 32);
}

static void copies_lie_a_period_apart_up_to_the_sample(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
    struct told told;

    sample(fixture, 0, 50000, 3000, FEED_STATE_RUNNING);
    snapshot = take(fixture, (struct snapshot_window){ 0 });
    told = read_all(snapshot);
    assert_int_equal(told.count, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(told.times_us[i], 48000 + i * 1000);
    assert_int_equal(snapshot_first_us(snapshot), 48000);
    assert_int_equal(snapshot_last_us(snapshot), 50000);
}

static void copies_stay_within_the_window(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
    struct told told;

    sample(fixture, 0, 50000, 9000, FEED_STATE_RUNNING);
    snapshot =
        take(fixture,
             (struct snapshot_window){ .bounded = true, .origin_us = 49000, .extent_us = 5000 });
    told = read_all(snapshot);
    assert_int_equal(told.count, 9);
    assert_int_equal(told.times_us[0], 49000);
    assert_int_equal(told.times_us[8], 50000);
}

static void what_is_left_of_a_period_is_the_threads_next_samples(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
    struct told told;

    for (int i = 1; i <= 10; i++) {
        sample(fixture, 0, i * 4000, 2600, FEED_STATE_RUNNING);
        sample(fixture, 1, i * 4000 + 1, 2700, FEED_STATE_RUNNING);
    }
    snapshot = take(fixture, (struct snapshot_window){ 0 });
    told = read_all(snapshot);
    assert_int_equal(of_thread(&told, 7), 26);
    assert_int_equal(of_thread(&told, 8), 27);
}

/* As two windows tell it, that begin at different samples. */
static void what_the_program_has_carried_over_itself_is_told_as_it_is(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
    struct told told;

    for (int i = 1; i <= 20; i++)
        sample(fixture, 0, i * 1000, i % 4 ? 930 : 1900, FEED_STATE_RUNNING);
    snapshot = take(fixture, (struct snapshot_window){ 0 });
    told = read_all(snapshot);
    assert_int_equal(told.count, 20);
}

/* Where nothing says what a sample stands for, it is one; in wall mode it is a look at a thread. */
static void a_sample_without_cpu_time_and_one_of_a_sleeper_are_told_once(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
    CLEANUP(snapshot_freep) struct snapshot *wall = NULL;

    sample(fixture, 0, 1000, 0, FEED_STATE_RUNNING);
    sample(fixture, 0, 2000, 5000, FEED_STATE_SLEEP);
    snapshot = take(fixture, (struct snapshot_window){ 0 });
    assert_int_equal(read_all(snapshot).count, 2);
    set_wall_mode(fixture->profile);
    sample(fixture, 0, 3000, 5000, FEED_STATE_RUNNING);
    wall = take(fixture, (struct snapshot_window){ 0 });
    assert_int_equal(read_all(wall).count, 3);
}

/* DevTools takes the middle gap between samples for the period. */
static void the_threads_of_one_round_are_told_one_after_the_other(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
    struct told told;

    set_wall_mode(fixture->profile);
    for (int round = 1; round <= 10; round++)
        for (int thread = 0; thread < THREADS; thread++)
            sample(fixture, thread, round * 1000, 0, FEED_STATE_SLEEP);
    snapshot = take(fixture, (struct snapshot_window){ 0 });
    told = read_all(snapshot);
    assert_int_equal(told.count, 10 * THREADS);
    for (uint32_t i = 0; i < told.count; i++)
        assert_int_equal(told.times_us[i], (i + 1) * 250);
}

static void a_sample_has_one_time_whoever_else_is_asked_for(void **state)
{
    struct fixture *fixture = *state;
    struct told all;

    set_wall_mode(fixture->profile);
    for (int thread = 0; thread < THREADS; thread++)
        sample(fixture, thread, 900 - thread, 0, FEED_STATE_SLEEP);
    for (int round = 1; round <= 3; round++)
        for (int thread = 0; thread < THREADS; thread++)
            sample(fixture, thread, round * 1000, 0, FEED_STATE_SLEEP);
    for (int32_t tid = 7; tid < 7 + THREADS; tid++) {
        CLEANUP(snapshot_freep) struct snapshot *of_all = NULL;
        CLEANUP(snapshot_freep) struct snapshot *of_one = NULL;
        struct told one;
        uint32_t next = 0;

        of_all = take(fixture, (struct snapshot_window){ 0 });
        of_one = take(fixture, (struct snapshot_window){ .tid = tid });
        all = read_all(of_all);
        one = read_all(of_one);
        assert_int_equal(one.count, 4);
        for (uint32_t i = 0; i < all.count; i++)
            if (all.tids[i] == tid)
                assert_int_equal(all.times_us[i], one.times_us[next++]);
        assert_int_equal(next, one.count);
    }
}

/* The kernel's tick gives 250 samples in a second, whatever was asked for. */
static void the_period_is_the_one_that_the_timer_can_keep(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;

    fixture->feed.writer.header->status.clock_reason = FEED_TIMER_REASON_REFUSED;
    fixture->feed.writer.header->status.timer_period_us = 4000;
    for (int i = 1; i <= 10; i++)
        sample(fixture, 0, i * 4000, 4000 + (i & 1 ? 300 : -300), FEED_STATE_RUNNING);
    snapshot = take(fixture, (struct snapshot_window){ 0 });
    assert_int_equal(snapshot_period_us(snapshot), 4000);
    assert_int_equal(read_all(snapshot).count, 10);
}

int main(void)
{
#define COUNTED_TEST(test) cmocka_unit_test_setup_teardown(test, open_fixture, close_fixture)
    const struct CMUnitTest tests[] = {
        COUNTED_TEST(a_throttled_thread_is_told_as_often_as_another_one_of_its_time),
        COUNTED_TEST(copies_lie_a_period_apart_up_to_the_sample),
        COUNTED_TEST(copies_stay_within_the_window),
        COUNTED_TEST(what_is_left_of_a_period_is_the_threads_next_samples),
        COUNTED_TEST(what_the_program_has_carried_over_itself_is_told_as_it_is),
        COUNTED_TEST(a_sample_without_cpu_time_and_one_of_a_sleeper_are_told_once),
        COUNTED_TEST(the_threads_of_one_round_are_told_one_after_the_other),
        COUNTED_TEST(a_sample_has_one_time_whoever_else_is_asked_for),
        COUNTED_TEST(the_period_is_the_one_that_the_timer_can_keep),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
