#include "sampler/profile/live.h"

#include "fake_feed.h"
#include "sampler/profile/live_tables.h"
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
    uint64_t frames[2] = { PROFILE_FRAME(0, leaf), PROFILE_FRAME(0, 1) };
    struct store_sample sample = { .timestamp_us = ++fixture->time_us,
                                   .depth = 2,
                                   .frames = frames };

    assert_int_equal(store_add(fixture->profile->store, fixture->thread, &sample), 0);
}

static struct live *take(const struct fixture *fixture, struct live_mark mark)
{
    struct live_window window = { .mark = mark };
    struct live *live = NULL;

    assert_int_equal(live_take(&live, fixture->profile, &window), 0);
    return live;
}

/* What a reader does who wants no more than to go on. */
static struct live_mark follow(const struct fixture *fixture, struct live_mark mark)
{
    struct live *live = take(fixture, mark);

    assert_false(live_reset(live));
    mark = live_mark(live);
    live_free(live);
    return mark;
}

static uint32_t new_functions(const struct live *live)
{
    uint32_t first, end;

    live_functions(live, &first, &end);
    return end - first;
}

static void nothing_is_told_twice(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    struct live_mark mark;
    struct live *live;

    (void)state;
    fixture_open(&fixture);
    add(&fixture, 2);
    mark = follow(&fixture, (struct live_mark){ 0 });
    add(&fixture, 2);
    add(&fixture, 3);
    live = take(&fixture, mark);
    assert_int_equal(live_sample_count(live), 2);
    assert_int_equal(new_functions(live), 1);
    assert_int_equal(live_part(live, 0).first_node, live_part(live, 0).end_node);
    live_free(live);
}

/* A new chunk has a tree of its own; the tables go on. */
static void another_chunk_is_another_tree_with_the_same_functions(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    struct live_mark mark;
    struct live *live;

    (void)state;
    fixture_open(&fixture);
    add(&fixture, 2);
    mark = follow(&fixture, (struct live_mark){ 0 });
    for (live = take(&fixture, mark); live_part_count(live) < 2; live = take(&fixture, mark)) {
        live_free(live);
        add(&fixture, 2);
    }
    assert_int_equal(new_functions(live), 0);
    assert_int_equal(live_part(live, 1).first_node, 1);
    assert_true(live_part(live, 1).tree > live_part(live, 0).tree);
    live_free(live);
}

static void a_mark_of_an_evicted_chunk_resets(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    struct live_mark mark;
    struct live *live;

    (void)state;
    fixture_open(&fixture);
    add(&fixture, 2);
    mark = follow(&fixture, (struct live_mark){ 0 });
    while (!store_counts(fixture.profile->store, fixture.owner).evicted)
        add(&fixture, 2);
    live = take(&fixture, mark);
    assert_true(live_reset(live));
    assert_int_equal(live_sample_count(live),
                     store_counts(fixture.profile->store, fixture.owner).samples);
    live_free(live);
}

static void a_cleared_mark_resets_once(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    struct live_mark mark;
    struct live *live;

    (void)state;
    fixture_open(&fixture);
    add(&fixture, 2);
    mark = follow(&fixture, (struct live_mark){ 0 });
    store_clear(fixture.profile->store, fixture.owner);
    live = take(&fixture, mark);
    assert_true(live_reset(live));
    assert_int_equal(live_sample_count(live), 0);
    mark = follow(&fixture, live_mark(live));
    live_free(live);
    add(&fixture, 2);
    live = take(&fixture, mark);
    assert_int_equal(live_sample_count(live), 1);
    live_free(live);
}

/* As a client may make it up: nothing is read where it points. */
static void a_mark_beyond_what_is_there_resets(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    struct live_mark good, marks[6];

    (void)state;
    fixture_open(&fixture);
    add(&fixture, 2);
    good = follow(&fixture, (struct live_mark){ 0 });
    for (size_t i = 0; i < 6; i++)
        marks[i] = good;
    marks[0].samples = marks[1].nodes = marks[2].threads = UINT32_MAX;
    marks[3].functions = marks[4].frames = UINT32_MAX;
    marks[5].tree = UINT64_MAX;
    for (size_t i = 0; i < 6; i++) {
        struct live *live = take(&fixture, marks[i]);

        assert_true(live_reset(live));
        assert_int_equal(live_sample_count(live), 1);
        live_free(live);
    }
}

static void a_renamed_thread_is_told_again(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    struct live_mark mark;
    struct live *live;

    (void)state;
    fixture_open(&fixture);
    add(&fixture, 2);
    mark = follow(&fixture, (struct live_mark){ 0 });
    store_rename(fixture.profile->store, fixture.thread, "worker");
    live = take(&fixture, mark);
    assert_int_equal(live_part(live, 0).first_thread, 0);
    assert_string_equal(live_thread(live, 0, 0).name, "worker");
    live_free(live);
}

/* They live on in whoever still reads them. */
static void tables_that_outgrew_the_store_begin_anew(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    struct live_mark mark;
    struct live *old, *live;

    (void)state;
    fixture_open(&fixture);
    add(&fixture, 2);
    old = take(&fixture, (struct live_mark){ 0 });
    mark = live_mark(old);
    fixture.profile->live->frames_max = 1;
    live = take(&fixture, mark);
    assert_true(live_reset(live));
    assert_int_equal(live_mark(live).generation, mark.generation + 1);
    assert_string_equal(live_function(old, 0)->name, live_function(live, 0)->name);
    live_free(live);
    live_free(old);
}

static void the_first_so_many_and_the_rest_are_all(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    struct live_window window = { .count_max = 2 };
    struct live *live;

    (void)state;
    fixture_open(&fixture);
    for (int i = 0; i < 5; i++)
        add(&fixture, 2);
    for (uint32_t left = 5; left; left -= live_sample_count(live), live_free(live)) {
        assert_int_equal(live_take(&live, fixture.profile, &window), 0);
        assert_int_equal(live_sample_count(live), left < 2 ? left : 2);
        assert_int_equal(live_more(live), left > 2);
        window.mark = live_mark(live);
    }
}

static void it_begins_where_it_is_told_to(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    struct live_window window = { .from_us = 4 };
    struct live *live;

    (void)state;
    fixture_open(&fixture);
    for (int i = 0; i < 5; i++)
        add(&fixture, 2);
    assert_int_equal(live_take(&live, fixture.profile, &window), 0);
    assert_int_equal(live_sample_count(live), 2);
    live_free(live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_told_twice),
        cmocka_unit_test(another_chunk_is_another_tree_with_the_same_functions),
        cmocka_unit_test(a_mark_of_an_evicted_chunk_resets),
        cmocka_unit_test(a_cleared_mark_resets_once),
        cmocka_unit_test(a_mark_beyond_what_is_there_resets),
        cmocka_unit_test(a_renamed_thread_is_told_again),
        cmocka_unit_test(tables_that_outgrew_the_store_begin_anew),
        cmocka_unit_test(the_first_so_many_and_the_rest_are_all),
        cmocka_unit_test(it_begins_where_it_is_told_to),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
