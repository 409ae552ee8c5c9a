#include "sampler/profile/store/stores.h"

#include "sampler/profile/store/frame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { BYTES = STORE_BYTES_MIN, TID = 10 };

/* A process with one thread, which leaves samples of all kinds. */
struct fixture {
    struct stores stores;
    struct owners owners;
    struct owner_thread *threads[SAMPLE_KINDS];
};

static int open_fixture(void **state)
{
    static struct fixture fixture;

    fixture = (struct fixture){ 0 };
    assert_int_equal(stores_new(&fixture.stores, BYTES), 0);
    assert_int_equal(owners_new(&fixture.owners, 1), 0);
    for (int kind = 0; kind < SAMPLE_KINDS; kind++)
        assert_int_equal(
            owner_thread_new(&fixture.threads[kind], fixture.owners.of[kind], TID, "main"), 0);
    *state = &fixture;
    return 0;
}

static int close_fixture(void **state)
{
    struct fixture *fixture = *state;

    for (int kind = 0; kind < SAMPLE_KINDS; kind++)
        owner_thread_release(fixture->threads[kind]);
    owners_release(&fixture->owners);
    stores_free(&fixture->stores);
    return 0;
}

/* The first moments are the last kind's. */
static int64_t time_of(int kind)
{
    return 1000 * (SAMPLE_KINDS - kind);
}

static void add(struct fixture *fixture, int kind)
{
    const uint64_t frame = FRAME_KEY(1, 1);
    const struct store_sample sample = { .kind = (enum sample_kind)kind,
                                         .thread = fixture->threads[kind],
                                         .timestamp_us = time_of(kind),
                                         .depth = 1,
                                         .frames = &frame };

    assert_int_equal(store_add(fixture->stores.of[kind], &sample), 0);
}

static uint64_t serial_of(struct store *store)
{
    struct store_view *views;
    uint32_t count;
    uint64_t serial;

    assert_int_equal(store_views(store, &STORE_ASK_ALL, &views, &count, NULL), 0);
    assert_int_equal(count, 1);
    serial = views->chunk->serial;
    store_views_free(views, count);
    return serial;
}

/* Its bound is the user's, and its time that of what was sampled, not of looks. */
static void history_is_of_samples_of_time(void **state)
{
    struct fixture *fixture = *state;
    struct profile_history history = stores_history(&fixture->stores);

    assert_int_equal(history.first_us, 0);
    assert_int_equal(history.last_us, 0);
    for (int kind = 0; kind < SAMPLE_KINDS; kind++)
        add(fixture, kind);
    history = stores_history(&fixture->stores);
    assert_int_equal(history.bytes, store_bytes(fixture->stores.of[SAMPLES_OF_TIME]));
    assert_int_equal(history.bytes_max, BYTES);
    assert_int_equal(history.first_us, time_of(SAMPLES_OF_TIME));
    assert_int_equal(history.last_us, time_of(SAMPLES_OF_TIME));
}

/* What is cleared is cleared in all stores, and whoever follows one of them hears of it. */
static void clear_goes_over_all_kinds(void **state)
{
    struct fixture *fixture = *state;

    for (int kind = 0; kind < SAMPLE_KINDS; kind++) {
        uint64_t version = stores_version(&fixture->stores);

        assert_false(stores_have_samples(&fixture->stores, &fixture->owners));
        add(fixture, kind);
        assert_true(stores_have_samples(&fixture->stores, &fixture->owners));
        assert_true(stores_version(&fixture->stores) > version);
        if (kind % 2)
            stores_clear(&fixture->stores, &fixture->owners);
        else
            stores_clear_thread(&fixture->stores, &fixture->owners, TID);
    }
    assert_false(stores_have_samples(&fixture->stores, &fixture->owners));
}

/* Readers of all kinds share tables, which know a chunk by its serial. */
static void no_two_kinds_have_a_serial_in_common(void **state)
{
    struct fixture *fixture = *state;

    for (int kind = 0; kind < SAMPLE_KINDS; kind++) {
        add(fixture, kind);
        for (int other = 0; other < kind; other++)
            assert_int_not_equal(serial_of(fixture->stores.of[kind]),
                                 serial_of(fixture->stores.of[other]));
    }
}

/* A sample that was not kept is told with its process, whatever its kind. */
static void unstored_samples_of_all_kinds_add_up(void **state)
{
    struct fixture *fixture = *state;

    for (int kind = 0; kind < SAMPLE_KINDS; kind++)
        atomic_fetch_add(&fixture->owners.of[kind]->unstored, 2);
    assert_int_equal(owners_unstored(&fixture->owners), 2 * SAMPLE_KINDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(history_is_of_samples_of_time, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(clear_goes_over_all_kinds, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(no_two_kinds_have_a_serial_in_common, open_fixture,
                                        close_fixture),
        cmocka_unit_test_setup_teardown(unstored_samples_of_all_kinds_add_up, open_fixture,
                                        close_fixture),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
