/* Allocations that live, in the store that shows them. */
#include "sampler/profile/store/stores.h"

#include "sampler/profile/store/frame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { BYTES = STORE_BYTES_MIN };

struct fixture {
    struct stores stores;
    struct owners owners;
    struct owner_thread *thread;
    struct live_set *set;
};

static int open_fixture(void **state)
{
    static struct fixture fixture;

    fixture = (struct fixture){ 0 };
    assert_int_equal(stores_new(&fixture.stores, BYTES), 0);
    assert_int_equal(owners_new(&fixture.owners, 1), 0);
    assert_int_equal(
        owner_thread_new(&fixture.thread, fixture.owners.of[SAMPLES_OF_LIVE], 10, "main"), 0);
    fixture.set = live_set_new(fixture.stores.live, fixture.owners.of[SAMPLES_OF_LIVE]);
    assert_non_null(fixture.set);
    *state = &fixture;
    return 0;
}

static int close_fixture(void **state)
{
    struct fixture *fixture = *state;

    live_set_free(fixture->set);
    owner_thread_release(fixture->thread);
    owners_release(&fixture->owners);
    stores_free(&fixture->stores);
    return 0;
}

static void add(struct fixture *fixture, uint64_t mark, uint64_t bytes)
{
    const uint64_t frames[] = { FRAME_KEY(1, mark), FRAME_KEY(1, 1) };
    const struct store_sample sample = { .kind = SAMPLES_OF_LIVE,
                                         .thread = fixture->thread,
                                         .timestamp_us = (int64_t)mark * 1000,
                                         .depth = 2,
                                         .frames = frames };

    assert_int_equal(live_set_add(fixture->set, mark, bytes, 0, &sample), 0);
}

/* Bytes and count of those that are shown now. */
static uint64_t shown(struct fixture *fixture, uint64_t *count)
{
    struct store_view *views;
    uint32_t view_count;
    uint64_t bytes = 0;

    *count = 0;
    assert_int_equal(stores_show(&fixture->stores, SAMPLES_OF_LIVE), 0);
    assert_int_equal(
        store_views(fixture->stores.of[SAMPLES_OF_LIVE], &STORE_ASK_ALL, &views, &view_count, NULL),
        0);
    for (uint32_t view = 0; view < view_count; view++)
        for (uint32_t i = 0; i < views[view].sample_count; i++) {
            const struct chunk *chunk = views[view].chunk;

            if (i < views[view].sources[chunk->samples[i].source].first_visible)
                continue;
            bytes += chunk_sample_weight(chunk, i);
            assert_int_equal(chunk_sample_objects(chunk, i), CHUNK_OBJECT_PARTS);
            ++*count;
        }
    store_views_free(views, view_count);
    return bytes;
}

/* A chunk has 32 bits for each. */
static void one_of_many_gibibytes_is_all_there(void **state)
{
    const uint64_t bytes = UINT64_C(100) << 30;
    struct fixture *fixture = *state;
    struct store_view *views;
    uint32_t view_count;
    uint64_t seen = 0, objects = 0;

    add(fixture, 1, bytes);
    assert_int_equal(stores_show(&fixture->stores, SAMPLES_OF_LIVE), 0);
    assert_int_equal(
        store_views(fixture->stores.of[SAMPLES_OF_LIVE], &STORE_ASK_ALL, &views, &view_count, NULL),
        0);
    for (uint32_t i = 0; i < views->sample_count; i++) {
        seen += chunk_sample_weight(views->chunk, i);
        objects += chunk_sample_objects(views->chunk, i);
    }
    store_views_free(views, view_count);
    assert_int_equal(seen, bytes);
    assert_int_equal(objects, CHUNK_OBJECT_PARTS);
}

static bool is_even(const void *context, uint64_t mark)
{
    (void)context;
    return mark % 2 == 0;
}

static uint32_t no_level(const void *context)
{
    (void)context;
    return 0;
}

static void what_lives_is_shown_by_its_bytes(void **state)
{
    struct fixture *fixture = *state;
    uint64_t count;

    assert_int_equal(shown(fixture, &count), 0);
    add(fixture, 1, 524288);
    add(fixture, 2, UINT32_MAX);
    assert_int_equal(shown(fixture, &count), 524288 + (uint64_t)UINT32_MAX);
    assert_int_equal(count, 2);
    assert_int_equal(
        store_counts(fixture->stores.of[SAMPLES_OF_LIVE], fixture->owners.of[SAMPLES_OF_LIVE])
            .samples,
        2);
}

static void what_was_freed_is_not_shown_any_more(void **state)
{
    struct fixture *fixture = *state;
    uint64_t count;

    for (uint64_t mark = 1; mark <= 10; mark++)
        add(fixture, mark, mark);
    assert_int_equal(shown(fixture, &count), 55);
    live_set_sweep(fixture->set, &(struct live_table){ is_even, no_level, NULL });
    assert_int_equal(shown(fixture, &count), 30);
    assert_int_equal(count, 5);
    add(fixture, 11, 11);
    assert_int_equal(shown(fixture, &count), 41);
    assert_int_equal(shown(fixture, &count), 41);
}

/* Clearing forgets samples; what lives does so all the same. */
static void what_lives_is_there_after_a_clear(void **state)
{
    struct fixture *fixture = *state;
    uint64_t count;

    add(fixture, 1, 100);
    assert_int_equal(shown(fixture, &count), 100);
    stores_clear(&fixture->stores, &fixture->owners);
    assert_int_equal(shown(fixture, &count), 100);
}

static void a_process_that_is_forgotten_has_none(void **state)
{
    struct fixture *fixture = *state;
    uint64_t count;

    add(fixture, 1, 100);
    shown(fixture, &count);
    live_set_free(fixture->set);
    fixture->set = NULL;
    assert_int_equal(shown(fixture, &count), 0);
    assert_int_equal(count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_lives_is_shown_by_its_bytes, open_fixture,
                                        close_fixture),
        cmocka_unit_test_setup_teardown(one_of_many_gibibytes_is_all_there, open_fixture,
                                        close_fixture),
        cmocka_unit_test_setup_teardown(what_was_freed_is_not_shown_any_more, open_fixture,
                                        close_fixture),
        cmocka_unit_test_setup_teardown(what_lives_is_there_after_a_clear, open_fixture,
                                        close_fixture),
        cmocka_unit_test_setup_teardown(a_process_that_is_forgotten_has_none, open_fixture,
                                        close_fixture),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
