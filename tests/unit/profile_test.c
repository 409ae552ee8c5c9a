/* The profile with its threads. Every wait is for a condition; CTest's timeout is the deadline. */
#include "sampler/profile/profile.h"

#include "fake_elf.h"
#include "fake_feed.h"
#include "sampler/include/isoscope/isoscope.h"
#include "sampler/profile/follow.h"
#include "sampler/feed/chance.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

struct fixture {
    struct profile *profile;
    pthread_mutex_t lock;
    pthread_cond_t moved;
    int changes;      /* how often changed was called */
    int name_changes; /* by the symbol worker */
    bool hold_worker; /* the worker stays in its first call */
};

/* Knows the worker by its name, as a person with top -H would. */
static bool on_symbol_worker(void)
{
    char name[16] = "";

    pthread_getname_np(pthread_self(), name, sizeof(name));
    return !strcmp(name, "iso-symbols");
}

static void changed(void *context)
{
    struct fixture *fixture = context;

    pthread_mutex_lock(&fixture->lock);
    fixture->changes++;
    if (on_symbol_worker()) {
        fixture->name_changes++;
        pthread_cond_broadcast(&fixture->moved);
        while (fixture->hold_worker)
            pthread_cond_wait(&fixture->moved, &fixture->lock);
    }
    pthread_cond_broadcast(&fixture->moved);
    pthread_mutex_unlock(&fixture->lock);
}

static int open_fixture(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    struct profile_options options = { .settings.enabled = true,
                                       .changed = changed,
                                       .context = fixture };

    pthread_mutex_init(&fixture->lock, NULL);
    pthread_cond_init(&fixture->moved, NULL);
    *state = fixture;
    return profile_new(&fixture->profile, &options);
}

static int close_fixture(void **state)
{
    struct fixture *fixture = *state;

    profile_free(fixture->profile);
    pthread_cond_destroy(&fixture->moved);
    pthread_mutex_destroy(&fixture->lock);
    free(fixture);
    return 0;
}

static void wait_for_name_changes(struct fixture *fixture, int count)
{
    pthread_mutex_lock(&fixture->lock);
    while (fixture->name_changes < count)
        pthread_cond_wait(&fixture->moved, &fixture->lock);
    pthread_mutex_unlock(&fixture->lock);
}

static void hold_worker(struct fixture *fixture, bool hold)
{
    pthread_mutex_lock(&fixture->lock);
    fixture->hold_worker = hold;
    pthread_cond_broadcast(&fixture->moved);
    pthread_mutex_unlock(&fixture->lock);
}

static uint64_t attach(struct fixture *fixture, const struct fake_feed *feed, int32_t pid)
{
    struct profile_peer peer = { .pid = pid, .clock = -1, .faults = -1, .exe = "/usr/bin/program" };
    uint64_t id = 0;

    assert_int_equal(profile_attach(fixture->profile, fake_feed_memfd(feed), &peer, &id), 0);
    return id;
}

static uint64_t samples_of(struct fixture *fixture, uint64_t id)
{
    struct process_info info;

    assert_true(profile_process(fixture->profile, id, &info));
    return info.samples;
}

static void sync_brings_in_what_was_sampled_before_it(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(fake_feed_close) struct fake_feed feed;
    uint32_t slot;
    uint64_t id;

    assert_int_equal(profile_start(fixture->profile), 0);
    fake_feed_open(&feed, getpid());
    slot = fake_feed_thread(&feed, 1, "main");
    id = attach(fixture, &feed, getpid());
    for (uint32_t i = 1; i <= 50; i++) {
        FAKE_SAMPLE(&feed, slot, i, FEED_FRAME(0, 0x10));
        profile_sync(fixture->profile);
        assert_int_equal(samples_of(fixture, id), i);
    }
}

/* Nobody asks; the collector comes by itself. */
static void the_collector_drains_unasked(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(fake_feed_close) struct fake_feed feed;
    uint32_t slot;
    uint64_t id;

    assert_int_equal(profile_start(fixture->profile), 0);
    fake_feed_open(&feed, getpid());
    slot = fake_feed_thread(&feed, 1, "main");
    id = attach(fixture, &feed, getpid());
    for (uint32_t i = 1; i <= 3; i++) {
        FAKE_SAMPLE(&feed, slot, i, FEED_FRAME(0, 0x10));
        while (samples_of(fixture, id) < i)
            sched_yield();
    }
}

/* As a server does: asks again at each change. */
static struct snapshot *take_when_ready(struct fixture *fixture, struct snapshot_window window)
{
    struct snapshot *snapshot = NULL;
    int error, changes;

    for (;;) {
        pthread_mutex_lock(&fixture->lock);
        changes = fixture->name_changes;
        pthread_mutex_unlock(&fixture->lock);
        error = snapshot_take(&snapshot, fixture->profile, &window);
        if (error != -ISOSCOPE_PENDING)
            break;
        wait_for_name_changes(fixture, changes + 1);
    }
    assert_int_equal(error, 0);
    return snapshot;
}

static void names_that_are_being_read_make_a_snapshot_pending(void **state)
{
    struct fixture *fixture = *state;
    struct snapshot *none = NULL;
    CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
    CLEANUP(fake_feed_close) struct fake_feed feed;
    struct snapshot_window all = { 0 };
    uint32_t slot, first, second;

    hold_worker(fixture, true);
    assert_int_equal(profile_start(fixture->profile), 0);
    fake_feed_open(&feed, getpid());
    slot = fake_feed_thread(&feed, 1, "main");
    attach(fixture, &feed, getpid());
    first = fake_feed_module(&feed, "/proc/self/exe");
    second = fake_feed_module(&feed, "/nowhere/libmissing.so");
    FAKE_SAMPLE(&feed, slot, 1, FEED_FRAME(first, 0x10), FEED_FRAME(second, 0x10));
    profile_sync(fixture->profile);
    wait_for_name_changes(fixture, 1);
    assert_int_equal(snapshot_take(&none, fixture->profile, &all), -ISOSCOPE_PENDING);
    assert_null(none);
    hold_worker(fixture, false);
    snapshot = take_when_ready(fixture, all);
    assert_int_equal(snapshot_sample_count(snapshot), 1);
}

/* A window that needs no unread names does not wait for those that others need. */
static void a_snapshot_waits_only_for_its_own_names(void **state)
{
    struct fixture *fixture = *state;
    struct snapshot *none = NULL;
    CLEANUP(snapshot_freep) struct snapshot *before = NULL;
    CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
    CLEANUP(fake_feed_close) struct fake_feed feed;
    struct snapshot_window first_only = { .count_max = 1 }, all = { 0 };
    uint32_t slot, first, second;

    assert_int_equal(profile_start(fixture->profile), 0);
    fake_feed_open(&feed, getpid());
    slot = fake_feed_thread(&feed, 1, "main");
    attach(fixture, &feed, getpid());
    first = fake_feed_module(&feed, "/nowhere/first");
    second = fake_feed_module(&feed, "/nowhere/second");
    FAKE_SAMPLE(&feed, slot, 1, FEED_FRAME(first, 0x10));
    profile_sync(fixture->profile);
    before = take_when_ready(fixture, first_only);
    hold_worker(fixture, true);
    FAKE_SAMPLE(&feed, slot, 2, FEED_FRAME(second, 0x10));
    profile_sync(fixture->profile);
    assert_int_equal(snapshot_take(&none, fixture->profile, &all), -ISOSCOPE_PENDING);
    assert_int_equal(snapshot_take(&snapshot, fixture->profile, &first_only), 0);
    hold_worker(fixture, false);
}

/* What is available is answered at once, and the rest is asked for all the same. */
static void available_names_never_wait_and_get_better(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(snapshot_freep) struct snapshot *early = NULL;
    CLEANUP(snapshot_freep) struct snapshot *late = NULL;
    CLEANUP(fake_feed_close) struct fake_feed feed;
    struct snapshot_window available = { .partial_names_ok = true }, all = { 0 };
    struct profile_symbols symbols;
    uint32_t slot, module, count;

    hold_worker(fixture, true);
    assert_int_equal(profile_start(fixture->profile), 0);
    fake_feed_open(&feed, getpid());
    slot = fake_feed_thread(&feed, 1, "main");
    attach(fixture, &feed, getpid());
    module = fake_feed_module(&feed, "/nowhere/app");
    FAKE_SAMPLE(&feed, slot, 1, FEED_FRAME(module, 0x10));
    profile_sync(fixture->profile);
    assert_int_equal(snapshot_take(&early, fixture->profile, &available), 0);
    assert_string_equal(snapshot_functions(early, &count)->name, "app+0x10");
    symbols = profile_symbols(fixture->profile);
    assert_int_equal(symbols.asked, 1);
    assert_int_equal(symbols.done, 0);
    hold_worker(fixture, false);
    late = take_when_ready(fixture, all);
    assert_int_equal(profile_symbols(fixture->profile).done, 1);
    assert_true(profile_symbols(fixture->profile).finished > symbols.finished);
    assert_non_null(snapshot_libraries(late, &count)->reason);
    assert_non_null(snapshot_libraries(late, &count)->lines_reason);
}

/* As a server does: asks again at each change. */
static struct follow *follow_when_ready(struct fixture *fixture, struct follow_cursor cursor)
{
    struct follow_window window = { .cursor = cursor };
    struct follow *follow = NULL;
    int error, changes;

    for (;;) {
        pthread_mutex_lock(&fixture->lock);
        changes = fixture->name_changes;
        pthread_mutex_unlock(&fixture->lock);
        error = follow_take(&follow, fixture->profile, &window);
        if (error != -ISOSCOPE_PENDING)
            break;
        wait_for_name_changes(fixture, changes + 1);
    }
    assert_int_equal(error, 0);
    return follow;
}

static const char *name_of_second(const struct follow *follow)
{
    uint32_t length;

    return follow_function(follow, follow_frame(follow, 1, &length)->function)->name;
}

/* One who follows with what is available is told later; who follows with all waits for what that
 * one has left open; and a reply that is still read stays as it was. */
static void followers_are_told_of_names_when_they_are_known(void **state)
{
    struct fixture *fixture = *state;
    struct fake_elf elf = { .symbols = { { "named", 0x1000, 0x100, STB_GLOBAL, STT_FUNC } } };
    struct follow_window available = { .partial_names_ok = true }, all = { 0 };
    struct snapshot_window snapshot_all = { 0 };
    struct snapshot *unready = NULL;
    struct follow *early, *nothing_new, *late, *again, *none = NULL;
    CLEANUP(fake_feed_close) struct fake_feed feed;
    uint32_t slot, first, end, frame;
    char directory[64], path[128];

    fake_directory(directory);
    snprintf(path, sizeof(path), "%s/app", directory);
    fake_elf_write(path, &elf);
    hold_worker(fixture, true);
    assert_int_equal(profile_start(fixture->profile), 0);
    fake_feed_open(&feed, getpid());
    slot = fake_feed_thread(&feed, 1, "main");
    attach(fixture, &feed, getpid());
    FAKE_SAMPLE(&feed, slot, 1, FEED_FRAME(fake_feed_module(&feed, "/nowhere/first"), 0x10));
    profile_sync(fixture->profile);
    assert_int_equal(snapshot_take(&unready, fixture->profile, &snapshot_all), -ISOSCOPE_PENDING);
    wait_for_name_changes(fixture, 1); /* the worker is held with this one, and reads no other */
    FAKE_SAMPLE(&feed, slot, 2, FEED_FRAME(fake_feed_module(&feed, path), 0x1010));
    profile_sync(fixture->profile);
    assert_int_equal(follow_take(&early, fixture->profile, &available), 0);
    assert_string_equal(name_of_second(early), "app+0x1010");
    available.cursor = follow_cursor(early);
    assert_int_equal(follow_take(&nothing_new, fixture->profile, &available), 0);
    follow_renamed(nothing_new, &first, &end);
    assert_int_equal(first, end);
    assert_int_equal(follow_take(&none, fixture->profile, &all), -ISOSCOPE_PENDING);
    hold_worker(fixture, false);
    late = follow_when_ready(fixture, follow_cursor(early));
    follow_renamed(late, &first, &end);
    assert_true(first < end);
    assert_true(follow_renamed_frame(late, end - 1, &frame));
    assert_int_equal(frame, 1);
    assert_string_equal(name_of_second(late), "named");
    assert_string_equal(name_of_second(early), "app+0x1010");
    again = follow_when_ready(fixture, follow_cursor(late));
    follow_renamed(again, &first, &end);
    assert_int_equal(first, end);
    follow_free(early);
    follow_free(nothing_new);
    follow_free(late);
    follow_free(again);
    unlink(path);
    rmdir(directory);
}

struct writer {
    struct fake_feed *feed;
    uint32_t slot, module;
    _Atomic bool stop;
    uint64_t written;
};

static int64_t clock_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void *write_samples(void *argument)
{
    struct writer *writer = argument;
    uint32_t seed = writer->slot;

    while (!writer->stop) {
        chance_next(&seed);
        if (FAKE_SAMPLE(writer->feed, writer->slot, clock_us(),
                        FEED_FRAME(writer->module, (seed >> 8) % 4096),
                        FEED_FRAME(writer->module, (seed >> 20) % 64)))
            writer->written++;
        else
            sched_yield();
    }
    return NULL;
}

/* Exclusive counts add up to the samples, and every sample's stack is in the tables. */
static void check_snapshot(struct snapshot *snapshot)
{
    const struct snapshot_function *functions;
    struct snapshot_sample sample;
    uint32_t count, frame_count, cursor = 0;
    uint64_t exclusive = 0;
    int64_t before_us = 0;

    snapshot_frames(snapshot, &frame_count);
    functions = snapshot_functions(snapshot, &count);
    for (uint32_t i = 0; i < count; i++)
        exclusive += functions[i].exclusive;
    assert_int_equal(exclusive, snapshot_sample_count(snapshot));
    while (snapshot_next(snapshot, &cursor, &sample)) {
        assert_int_equal(sample.depth, 2);
        assert_true(sample.frames[0] < frame_count && sample.frames[1] < frame_count);
        assert_true(sample.timestamp_us >= before_us);
        before_us = sample.timestamp_us;
    }
    assert_int_equal(cursor, snapshot_sample_count(snapshot));
}

static void snapshots_are_whole_while_samples_pour_in(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(fake_feed_close) struct fake_feed feed;
    struct writer writers[2] = { { .feed = &feed }, { .feed = &feed } };
    pthread_t threads[2];
    struct snapshot_window all = { 0 };
    uint64_t id;

    assert_int_equal(profile_start(fixture->profile), 0);
    fake_feed_open(&feed, getpid());
    id = attach(fixture, &feed, getpid());
    for (int i = 0; i < 2; i++) {
        writers[i].module = fake_feed_module(&feed, "/nowhere/app");
        writers[i].slot = fake_feed_thread(&feed, i + 1, "writer");
        pthread_create(&threads[i], NULL, write_samples, &writers[i]);
    }
    for (int taken = 0; taken < 20;) {
        CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
        int error;

        profile_sync(fixture->profile);
        fake_feed_rename(&feed, writers[0].slot, taken % 2 ? "odd" : "even");
        error = snapshot_take(&snapshot, fixture->profile, &all);
        assert_true(error == 0 || error == -ISOSCOPE_PENDING);
        if (error)
            continue;
        check_snapshot(snapshot);
        if (++taken % 5 == 0)
            profile_clear(fixture->profile, id);
    }
    for (int i = 0; i < 2; i++) {
        writers[i].stop = true;
        pthread_join(threads[i], NULL);
    }
}

/* Written, cleared, evicted or in the store: none is lost between two rounds. */
static void no_sample_is_lost_on_its_way(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(fake_feed_close) struct fake_feed feed;
    struct writer writer = { .feed = &feed };
    pthread_t thread;
    uint64_t id;

    assert_int_equal(profile_start(fixture->profile), 0);
    fake_feed_open(&feed, getpid());
    id = attach(fixture, &feed, getpid());
    writer.module = fake_feed_module(&feed, "/nowhere/app");
    writer.slot = fake_feed_thread(&feed, 1, "writer");
    pthread_create(&thread, NULL, write_samples, &writer);
    while (samples_of(fixture, id) < 50000)
        profile_sync(fixture->profile);
    writer.stop = true;
    pthread_join(thread, NULL);
    profile_sync(fixture->profile);
    assert_int_equal(samples_of(fixture, id), writer.written);
}

static void a_profile_may_end_with_feeds_and_names_in_the_air(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(fake_feed_close) struct fake_feed feed;
    uint32_t slot;

    assert_int_equal(profile_start(fixture->profile), 0);
    fake_feed_open(&feed, getpid());
    slot = fake_feed_thread(&feed, 1, "main");
    attach(fixture, &feed, getpid());
    for (uint32_t i = 0; i < 100; i++) {
        char path[32];

        snprintf(path, sizeof(path), "/nowhere/%u", i);
        FAKE_SAMPLE(&feed, slot, i, FEED_FRAME(fake_feed_module(&feed, path), 0x10));
    }
}

int main(void)
{
#define PROFILE_TEST(test) cmocka_unit_test_setup_teardown(test, open_fixture, close_fixture)
    const struct CMUnitTest tests[] = {
        PROFILE_TEST(sync_brings_in_what_was_sampled_before_it),
        PROFILE_TEST(the_collector_drains_unasked),
        PROFILE_TEST(names_that_are_being_read_make_a_snapshot_pending),
        PROFILE_TEST(a_snapshot_waits_only_for_its_own_names),
        PROFILE_TEST(available_names_never_wait_and_get_better),
        PROFILE_TEST(followers_are_told_of_names_when_they_are_known),
        PROFILE_TEST(snapshots_are_whole_while_samples_pour_in),
        PROFILE_TEST(no_sample_is_lost_on_its_way),
        PROFILE_TEST(a_profile_may_end_with_feeds_and_names_in_the_air),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
