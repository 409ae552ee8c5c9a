/* The table of sampled allocations: who lives in it, and what the service sees. */
#include "sampler/feed/feed_allocations.h"

#include "sampler/feed/feed_reader.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
/* cmocka wants the headers above first */
#include <cmocka.h>

#include "feed_both.h"

static void an_allocation_lives_until_its_address_is_taken(void **state)
{
    struct both *both = *state;
    uint64_t mark = feed_allocations_put(&both->writer, 0x1000, 1, 0);
    uint32_t freed = feed_reader_allocations_freed(both->reader);

    assert_int_not_equal(mark, 0);
    assert_true(feed_reader_allocation_lives(both->reader, mark));
    assert_int_equal(feed_allocations_take(&both->writer, 0x1010), 0);
    assert_int_equal(feed_reader_allocations_freed(both->reader), freed);
    assert_int_equal(feed_allocations_take(&both->writer, 0x1000), mark);
    assert_false(feed_reader_allocation_lives(both->reader, mark));
    assert_int_equal(feed_reader_allocations_freed(both->reader), freed + 1);
    assert_int_equal(feed_allocations_take(&both->writer, 0x1000), 0);
}

static void the_next_one_at_an_address_is_another_one(void **state)
{
    struct both *both = *state;
    uint64_t first = feed_allocations_put(&both->writer, 0x1000, 1, 0), second;

    feed_allocations_take(&both->writer, 0x1000);
    second = feed_allocations_put(&both->writer, 0x1000, 2, 0);
    assert_int_not_equal(first, second);
    assert_false(feed_reader_allocation_lives(both->reader, first));
    assert_true(feed_reader_allocation_lives(both->reader, second));
}

static void one_that_was_freed_behind_our_back_goes_when_its_address_comes_again(void **state)
{
    struct both *both = *state;
    uint64_t first = feed_allocations_put(&both->writer, 0x1000, 1, 0);
    uint64_t second = feed_allocations_put(&both->writer, 0x1000, 2, 0);

    assert_false(feed_reader_allocation_lives(both->reader, first));
    assert_true(feed_reader_allocation_lives(both->reader, second));
}

static void one_that_realloc_could_not_move_lives_on(void **state)
{
    struct both *both = *state;
    uint64_t mark = feed_allocations_put(&both->writer, 0x1000, 1, 0);

    feed_allocations_take(&both->writer, 0x1000);
    feed_allocations_put_back(&both->writer, 0x1000, mark);
    assert_true(feed_reader_allocation_lives(both->reader, mark));
    assert_int_equal(feed_allocations_take(&both->writer, 0x1000), mark);
}

static void those_of_an_arena_are_found_by_its_ends(void **state)
{
    struct both *both = *state;
    uint32_t place = 0, found = 0;
    uint64_t address;

    for (uint64_t at = 0x10000; at <= 0x30000; at += 0x1000)
        assert_int_not_equal(feed_allocations_put(&both->writer, at, at, 0), 0);
    while ((address = feed_allocations_next(&both->writer, &place, 0x18000, 0x28000))) {
        assert_in_range(address, 0x18000, 0x27fff);
        assert_int_not_equal(feed_allocations_take(&both->writer, address), 0);
        found++;
    }
    assert_int_equal(found, 0x10);
    assert_int_equal(feed_allocations_take(&both->writer, 0x18000), 0);
    assert_int_not_equal(feed_allocations_take(&both->writer, 0x17000), 0);
    assert_int_not_equal(feed_allocations_take(&both->writer, 0x28000), 0);
}

static void a_full_table_takes_no_more_and_loses_none(void **state)
{
    struct both *both = *state;
    uint32_t kept = 0, refused = 0;

    for (uint64_t i = 1; i <= 2 * FEED_ALLOCATIONS; i++) {
        bool put = feed_allocations_put(&both->writer, i * 16, i, 0) != 0;

        kept += put;
        refused += !put;
    }
    assert_in_range(kept, FEED_ALLOCATIONS / 2, FEED_ALLOCATIONS);
    assert_int_equal(feed_allocations_count(&both->writer), kept);
    for (uint64_t i = 1; i <= 2 * FEED_ALLOCATIONS; i++)
        kept -= feed_allocations_take(&both->writer, i * 16) != 0;
    assert_int_equal(kept, 0);
    assert_int_equal(feed_allocations_count(&both->writer), 0);
    assert_int_not_equal(feed_allocations_put(&both->writer, 16, 1, 0), 0);
    assert_true(refused >= FEED_ALLOCATIONS);
}

static void it_uses_no_more_places_than_it_needs(void **state)
{
    static const struct {
        uint64_t count;
        size_t places_max;
    } heaps[] = { { 512, 4096 }, { 2048, 16384 }, { FEED_FOLLOWED_MAX, 32768 } };
    struct both *both = *state;
    uint64_t number = 0;

    assert_int_equal(feed_reader_allocations_bytes(both->reader), FEED_ALLOCATIONS_FIRST * 16);
    for (size_t i = 0; i < sizeof heaps / sizeof *heaps; i++) {
        for (; number < heaps[i].count; number++)
            assert_int_not_equal(
                feed_allocations_put(&both->writer, 0x7f0000000000 + number * 4112, number + 1, 0),
                0);
        assert_in_range(feed_reader_allocations_bytes(both->reader), heaps[i].count * 16,
                        heaps[i].places_max * 16);
    }
}

static void those_below_a_level_are_taken_out_and_their_places_are_free(void **state)
{
    struct both *both = *state;
    uint32_t place = 0, taken = 0;
    uint64_t address;

    for (uint64_t i = 1; i <= 6400; i++)
        feed_allocations_put(&both->writer, i * 16, i, (uint32_t)(i % 64));
    while ((address = feed_allocations_below(&both->writer, &place, 16))) {
        assert_true(address / 16 % 64 < 16);
        assert_int_equal(feed_allocations_take(&both->writer, address), 0);
        taken++;
    }
    assert_int_equal(taken, 1600);
    assert_int_equal(feed_allocations_count(&both->writer), 4800);
    for (uint64_t i = 1; i <= 6400; i++) {
        uint64_t mark = feed_allocations_take(&both->writer, i * 16);

        assert_int_equal(mark != 0, i % 64 >= 16);
        if (mark)
            assert_int_equal(FEED_ALLOCATION_LEVEL(mark), i % 64);
    }
}

static void the_service_may_raise_the_level_and_not_lower_it(void **state)
{
    struct both *both = *state;
    const _Atomic uint32_t *level = &both->writer.header->control.live_level;

    feed_reader_raise_level(both->reader, 20);
    feed_reader_raise_level(both->reader, 19);
    assert_int_equal(atomic_load(level), 20);
    assert_int_equal(feed_reader_allocations_level(both->reader), 0);
    atomic_store(&both->writer.header->status.allocations_level, UINT32_MAX);
    assert_int_equal(feed_reader_allocations_level(both->reader), FEED_ALLOCATION_LEVEL_MAX);
    atomic_store(&both->writer.header->status.allocations_places, UINT32_MAX);
    assert_int_equal(feed_reader_allocations_bytes(both->reader), FEED_EVENT_RING_BYTES);
}

enum { PUTTERS = 3, ROUNDS = 20000, BLOCKS = 64 };

struct putter {
    struct both *both;
    uint64_t number; /* of the thread */
    uint32_t taken, wrong;
    _Atomic bool *ends;
};

/* Its own addresses, again and again. What it finds is its own; what it does not, somebody took out. */
static void *put_and_take(void *given)
{
    struct putter *putter = given;
    uint64_t marks[BLOCKS] = { 0 };

    for (uint64_t i = 0; i < ROUNDS; i++) {
        uint64_t address = (1 + putter->number * BLOCKS + i % BLOCKS) * 16;
        uint64_t mark = feed_allocations_take(&putter->both->writer, address);

        putter->wrong += mark && mark != marks[i % BLOCKS];
        putter->taken += mark != 0;
        marks[i % BLOCKS] =
            feed_allocations_put(&putter->both->writer, address, 1 + putter->number * ROUNDS + i,
                                 (uint32_t)(i / 7 % 32));
        putter->wrong += !marks[i % BLOCKS];
    }
    return NULL;
}

static void *take_out(void *given)
{
    struct putter *putter = given;

    while (!atomic_load(putter->ends))
        for (uint32_t place = 0; feed_allocations_below(&putter->both->writer, &place, 16);)
            putter->taken++;
    return NULL;
}

static void whoever_takes_one_out_does_it_alone(void **state)
{
    struct both *both = *state;
    _Atomic bool ends = false;
    struct putter putters[PUTTERS + 1];
    pthread_t threads[PUTTERS + 1];
    uint32_t taken = 0;

    for (int i = 0; i <= PUTTERS; i++) {
        putters[i] = (struct putter){ both, (uint64_t)i, 0, 0, &ends };
        assert_int_equal(
            pthread_create(&threads[i], NULL, i < PUTTERS ? put_and_take : take_out, &putters[i]),
            0);
    }
    for (int i = 0; i <= PUTTERS; i++) {
        if (i == PUTTERS)
            atomic_store(&ends, true);
        pthread_join(threads[i], NULL);
        taken += putters[i].taken;
        assert_int_equal(putters[i].wrong, 0);
    }
    assert_int_equal(taken + feed_allocations_count(&both->writer), PUTTERS * ROUNDS);
    for (uint64_t i = 1; i <= PUTTERS * BLOCKS; i++)
        feed_allocations_take(&both->writer, i * 16);
    assert_int_equal(feed_allocations_count(&both->writer), 0);
}

static void marks_that_cannot_be_are_of_none_that_lives(void **state)
{
    struct both *both = *state;

    feed_allocations_put(&both->writer, 0x1000, 1, 0);
    assert_false(feed_reader_allocation_lives(both->reader, 0));
    assert_false(feed_reader_allocation_lives(both->reader, UINT64_MAX));
    assert_false(feed_reader_allocation_lives(both->reader, 7));
}

/* A feed where address space is limited has none. */
static void without_a_table_nothing_is_followed(void **state)
{
    const struct rlimit small = { 6 << 20, RLIM_INFINITY };
    struct rlimit before;
    struct feed_writer writer;
    int memfd;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_int_equal(feed_writer_create(&writer, &memfd, 1, 1), 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    close(memfd);
    if (!writer.header->event_ring_capacity)
        assert_int_equal(feed_allocations_put(&writer, 0x1000, 1, 0), 0);
    assert_int_equal(feed_allocations_take(&writer, 0x2000), 0);
    feed_writer_destroy(&writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_allocation_lives_until_its_address_is_taken, make_both,
                                        free_both),
        cmocka_unit_test_setup_teardown(the_next_one_at_an_address_is_another_one, make_both,
                                        free_both),
        cmocka_unit_test_setup_teardown(
            one_that_was_freed_behind_our_back_goes_when_its_address_comes_again, make_both,
            free_both),
        cmocka_unit_test_setup_teardown(one_that_realloc_could_not_move_lives_on, make_both,
                                        free_both),
        cmocka_unit_test_setup_teardown(those_of_an_arena_are_found_by_its_ends, make_both,
                                        free_both),
        cmocka_unit_test_setup_teardown(a_full_table_takes_no_more_and_loses_none, make_both,
                                        free_both),
        cmocka_unit_test_setup_teardown(it_uses_no_more_places_than_it_needs, make_both, free_both),
        cmocka_unit_test_setup_teardown(those_below_a_level_are_taken_out_and_their_places_are_free,
                                        make_both, free_both),
        cmocka_unit_test_setup_teardown(the_service_may_raise_the_level_and_not_lower_it, make_both,
                                        free_both),
        cmocka_unit_test_setup_teardown(whoever_takes_one_out_does_it_alone, make_both, free_both),
        cmocka_unit_test_setup_teardown(marks_that_cannot_be_are_of_none_that_lives, make_both,
                                        free_both),
        cmocka_unit_test(without_a_table_nothing_is_followed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
