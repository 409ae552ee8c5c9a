#include "sampler/profile/follow.h"

#include "fake_feed.h"
#include "sampler/profile/view/follow_tables.h"
#include "sampler/profile/parts.h"
#include "sampler/profile/profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* A profile with samples of one thread, put into its store directly. */
struct fixture {
    struct profile *profile;
    struct owner *owner;
    struct owner_thread *thread;
    int64_t time_us;
};

static void fixture_open(struct fixture *fixture)
{
    struct profile_options options = { .no_symbols = true, .store_bytes = STORE_BYTES_MIN };

    *fixture = (struct fixture){ 0 };
    assert_int_equal(profile_new(&fixture->profile, &options), 0);
    assert_int_equal(owner_new(&fixture->owner, 1), 0);
    assert_int_equal(owner_thread_new(&fixture->thread, fixture->owner, 10, "main"), 0);
}

static void fixture_close(struct fixture *fixture)
{
    owner_thread_release(fixture->thread);
    owner_release(fixture->owner);
    profile_free(fixture->profile);
}

/* leaf tells one function from another; all have the same caller. */
static void add(struct fixture *fixture, uint64_t leaf)
{
    uint64_t frames[2] = { FRAME_KEY(0, leaf), FRAME_KEY(0, 1) };
    struct store_sample sample = {
        .thread = fixture->thread, .timestamp_us = ++fixture->time_us, .depth = 2, .frames = frames
    };

    assert_int_equal(store_add(fixture->profile->stores.of[SAMPLES_OF_TIME], &sample), 0);
}

static struct follow *take(const struct fixture *fixture, struct follow_cursor cursor)
{
    struct follow_window window = { .cursor = cursor };
    struct follow *follow = NULL;

    assert_int_equal(follow_take(&follow, fixture->profile, &window), 0);
    return follow;
}

/* What a reader does who wants no more than to go on. */
static struct follow_cursor read_on(const struct fixture *fixture, struct follow_cursor cursor)
{
    struct follow *follow = take(fixture, cursor);

    assert_false(follow_reset(follow));
    cursor = follow_cursor(follow);
    follow_free(follow);
    return cursor;
}

/* One sample is there, and a reader has it. */
static struct follow_cursor open_and_read(struct fixture *fixture)
{
    fixture_open(fixture);
    add(fixture, 2);
    return read_on(fixture, (struct follow_cursor){ 0 });
}

static uint32_t new_functions(const struct follow *follow)
{
    uint32_t first, end;

    follow_functions(follow, &first, &end);
    return end - first;
}

static void nothing_is_told_twice(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    struct follow_cursor cursor;
    struct follow *follow;

    (void)state;
    cursor = open_and_read(&fixture);
    add(&fixture, 2);
    add(&fixture, 3);
    follow = take(&fixture, cursor);
    assert_int_equal(follow_sample_count(follow), 2);
    assert_int_equal(new_functions(follow), 1);
    assert_int_equal(chunk_delta(follow, 0).first_node, chunk_delta(follow, 0).end_node);
    follow_free(follow);
}

/* A new chunk has a tree of its own; the tables go on. */
static void another_chunk_is_another_tree_with_the_same_functions(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    struct follow_cursor cursor;
    struct follow *follow;

    (void)state;
    cursor = open_and_read(&fixture);
    for (follow = take(&fixture, cursor); chunk_delta_count(follow) < 2;
         follow = take(&fixture, cursor)) {
        follow_free(follow);
        add(&fixture, 2);
    }
    assert_int_equal(new_functions(follow), 0);
    assert_int_equal(chunk_delta(follow, 1).first_node, 1);
    assert_true(chunk_delta(follow, 1).tree > chunk_delta(follow, 0).tree);
    follow_free(follow);
}

static void a_cursor_of_an_evicted_chunk_resets(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    struct follow_cursor cursor;
    struct follow *follow;

    (void)state;
    cursor = open_and_read(&fixture);
    while (!store_counts(fixture.profile->stores.of[SAMPLES_OF_TIME], fixture.owner).evicted)
        add(&fixture, 2);
    follow = take(&fixture, cursor);
    assert_true(follow_reset(follow));
    assert_int_equal(
        follow_sample_count(follow),
        store_counts(fixture.profile->stores.of[SAMPLES_OF_TIME], fixture.owner).samples);
    follow_free(follow);
}

static void a_cleared_cursor_resets_once(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    struct follow_cursor cursor;
    struct follow *follow;

    (void)state;
    cursor = open_and_read(&fixture);
    store_clear(fixture.profile->stores.of[SAMPLES_OF_TIME], fixture.owner);
    follow = take(&fixture, cursor);
    assert_true(follow_reset(follow));
    assert_int_equal(follow_sample_count(follow), 0);
    cursor = read_on(&fixture, follow_cursor(follow));
    follow_free(follow);
    add(&fixture, 2);
    follow = take(&fixture, cursor);
    assert_int_equal(follow_sample_count(follow), 1);
    follow_free(follow);
}

/* As a client may make it up: nothing is read where it points. */
static void a_cursor_beyond_what_is_there_resets(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    struct follow_cursor good, cursors[6];

    (void)state;
    good = open_and_read(&fixture);
    for (size_t i = 0; i < 6; i++)
        cursors[i] = good;
    cursors[0].samples = cursors[1].nodes = cursors[2].threads = UINT32_MAX;
    cursors[3].functions = cursors[4].frames = UINT32_MAX;
    cursors[5].tree = UINT64_MAX;
    for (size_t i = 0; i < 6; i++) {
        struct follow *follow = take(&fixture, cursors[i]);

        assert_true(follow_reset(follow));
        assert_int_equal(follow_sample_count(follow), 1);
        follow_free(follow);
    }
}

static void a_renamed_thread_is_told_again(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    struct follow_cursor cursor;
    struct follow *follow;

    (void)state;
    cursor = open_and_read(&fixture);
    store_rename(fixture.profile->stores.of[SAMPLES_OF_TIME], fixture.thread, "worker");
    follow = take(&fixture, cursor);
    assert_int_equal(chunk_delta(follow, 0).first_thread, 0);
    assert_string_equal(follow_thread(follow, 0, 0).name, "worker");
    follow_free(follow);
}

/* They live on in whoever still reads them. */
static void tables_that_outgrew_the_store_begin_anew(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    struct follow_cursor cursor;
    struct follow *old, *follow;

    (void)state;
    fixture_open(&fixture);
    add(&fixture, 2);
    old = take(&fixture, (struct follow_cursor){ 0 });
    cursor = follow_cursor(old);
    fixture.profile->follow->frames_max = 1;
    follow = take(&fixture, cursor);
    assert_true(follow_reset(follow));
    assert_int_equal(follow_cursor(follow).generation, cursor.generation + 1);
    assert_string_equal(follow_function(old, 0)->name, follow_function(follow, 0)->name);
    follow_free(follow);
    follow_free(old);
}

static void the_first_so_many_and_the_rest_are_all(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    struct follow_window window = { .count_max = 2 };
    struct follow *follow;

    (void)state;
    fixture_open(&fixture);
    for (int i = 0; i < 5; i++)
        add(&fixture, 2);
    for (uint32_t left = 5; left; left -= follow_sample_count(follow), follow_free(follow)) {
        assert_int_equal(follow_take(&follow, fixture.profile, &window), 0);
        assert_int_equal(follow_sample_count(follow), left < 2 ? left : 2);
        assert_int_equal(follow_more(follow), left > 2);
        window.cursor = follow_cursor(follow);
    }
}

static void it_begins_where_it_is_told_to(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    struct follow_window window = { .from_us = 4 };
    struct follow *follow;

    (void)state;
    fixture_open(&fixture);
    for (int i = 0; i < 5; i++)
        add(&fixture, 2);
    assert_int_equal(follow_take(&follow, fixture.profile, &window), 0);
    assert_int_equal(follow_sample_count(follow), 2);
    follow_free(follow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_told_twice),
        cmocka_unit_test(another_chunk_is_another_tree_with_the_same_functions),
        cmocka_unit_test(a_cursor_of_an_evicted_chunk_resets),
        cmocka_unit_test(a_cleared_cursor_resets_once),
        cmocka_unit_test(a_cursor_beyond_what_is_there_resets),
        cmocka_unit_test(a_renamed_thread_is_told_again),
        cmocka_unit_test(tables_that_outgrew_the_store_begin_anew),
        cmocka_unit_test(the_first_so_many_and_the_rest_are_all),
        cmocka_unit_test(it_begins_where_it_is_told_to),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
