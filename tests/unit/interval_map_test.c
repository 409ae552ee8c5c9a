#include "sampler/profile/naming/interval_map.h"

#include "sampler/feed/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void free_pieces(struct interval_map *pieces)
{
    interval_map_free(pieces);
}

#define BUILD(pieces, ranges)                                                                      \
    assert_int_equal(interval_map_build(pieces, ranges, sizeof(ranges) / sizeof((ranges)[0]),      \
                                        sizeof((ranges)[0])),                                      \
                     0)

/* -1: none. */
static int at(const struct interval_map *pieces, uint64_t address)
{
    uint32_t range;

    return interval_map_find(pieces, address, &range) ? (int)range : -1;
}

static void the_latest_range_shows(void **state)
{
    static const struct interval_range ranges[] = { { 100, 200 }, { 150, 160 }, { 190, 300 },
                                                    { 50, 110 },  { 400, 410 }, { 300, 310 } };
    CLEANUP(free_pieces) struct interval_map pieces = { 0 };

    (void)state;
    BUILD(&pieces, ranges);
    assert_int_equal(at(&pieces, 49), -1);
    assert_int_equal(at(&pieces, 50), 3);
    assert_int_equal(at(&pieces, 109), 3);
    assert_int_equal(at(&pieces, 110), 0);
    assert_int_equal(at(&pieces, 150), 1);
    assert_int_equal(at(&pieces, 160), 0);
    assert_int_equal(at(&pieces, 190), 2);
    assert_int_equal(at(&pieces, 299), 2);
    assert_int_equal(at(&pieces, 300), 5);
    assert_int_equal(at(&pieces, 310), -1);
    assert_int_equal(at(&pieces, 409), 4);
    assert_int_equal(at(&pieces, 410), -1);
}

static void no_range_is_nowhere(void **state)
{
    static const struct interval_range last[] = { { UINT64_MAX - 1, UINT64_MAX } };
    CLEANUP(free_pieces) struct interval_map pieces = { 0 };

    (void)state;
    assert_int_equal(at(&pieces, 0), -1);
    assert_int_equal(interval_map_build(&pieces, NULL, 0, sizeof(last[0])), 0);
    assert_int_equal(at(&pieces, UINT64_MAX), -1);
    BUILD(&pieces, last);
    assert_int_equal(at(&pieces, UINT64_MAX - 1), 0);
    assert_int_equal(at(&pieces, UINT64_MAX), -1);
}

/* Against looking at every range in turn. */
static void any_ranges_show_as_if_painted_one_after_the_other(void **state)
{
    enum { RANGES = 300, ADDRESSES = 1000 };
    struct interval_range ranges[RANGES];
    CLEANUP(free_pieces) struct interval_map pieces = { 0 };

    (void)state;
    srand(1);
    for (int i = 0; i < RANGES; i++) {
        ranges[i].start = (uint64_t)(rand() % (ADDRESSES - 50));
        ranges[i].end = ranges[i].start + 1 + (uint64_t)(rand() % (i % 2 ? 5 : 50));
    }
    for (uint32_t count = 1; count <= RANGES; count += 37) {
        assert_int_equal(interval_map_build(&pieces, ranges, count, sizeof(ranges[0])), 0);
        for (uint64_t address = 0; address < ADDRESSES; address++) {
            int expected = (int)count - 1;

            while (expected >= 0 &&
                   (address < ranges[expected].start || address >= ranges[expected].end))
                expected--;
            assert_int_equal(at(&pieces, address), expected);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_latest_range_shows),
        cmocka_unit_test(no_range_is_nowhere),
        cmocka_unit_test(any_ranges_show_as_if_painted_one_after_the_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
