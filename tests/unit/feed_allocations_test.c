/* The table of sampled allocations: who lives in it, and what the service sees. */
#include "sampler/feed/feed_allocations.h"

#include "sampler/feed/feed_reader.h"

#include <setjmp.h>
#include <stdarg.h>
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
    uint64_t mark = feed_allocations_put(&both->writer, 0x1000, 1);
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
    uint64_t first = feed_allocations_put(&both->writer, 0x1000, 1), second;

    feed_allocations_take(&both->writer, 0x1000);
    second = feed_allocations_put(&both->writer, 0x1000, 2);
    assert_int_not_equal(first, second);
    assert_false(feed_reader_allocation_lives(both->reader, first));
    assert_true(feed_reader_allocation_lives(both->reader, second));
}

static void one_that_was_freed_behind_our_back_goes_when_its_address_comes_again(void **state)
{
    struct both *both = *state;
    uint64_t first = feed_allocations_put(&both->writer, 0x1000, 1);
    uint64_t second = feed_allocations_put(&both->writer, 0x1000, 2);

    assert_false(feed_reader_allocation_lives(both->reader, first));
    assert_true(feed_reader_allocation_lives(both->reader, second));
}

static void one_that_realloc_could_not_move_lives_on(void **state)
{
    struct both *both = *state;
    uint64_t mark = feed_allocations_put(&both->writer, 0x1000, 1);

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
        assert_int_not_equal(feed_allocations_put(&both->writer, at, at), 0);
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
        bool put = feed_allocations_put(&both->writer, i * 16, i) != 0;

        kept += put;
        refused += !put;
    }
    assert_in_range(kept, FEED_ALLOCATIONS / 2, FEED_ALLOCATIONS);
    for (uint64_t i = 1; i <= 2 * FEED_ALLOCATIONS; i++)
        kept -= feed_allocations_take(&both->writer, i * 16) != 0;
    assert_int_equal(kept, 0);
    assert_int_not_equal(feed_allocations_put(&both->writer, 16, 1), 0);
    assert_true(refused >= FEED_ALLOCATIONS);
}

static void marks_that_cannot_be_are_of_none_that_lives(void **state)
{
    struct both *both = *state;

    feed_allocations_put(&both->writer, 0x1000, 1);
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
        assert_int_equal(feed_allocations_put(&writer, 0x1000, 1), 0);
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
        cmocka_unit_test_setup_teardown(marks_that_cannot_be_are_of_none_that_lives, make_both,
                                        free_both),
        cmocka_unit_test(without_a_table_nothing_is_followed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
