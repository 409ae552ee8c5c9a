/* Which module lies around an address: the newest one that was there. */
#include "sampler/profile/intake/module_places.h"

#include "fake_feed.h"
#include "sampler/feed/chance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct fixture {
    struct fake_feed feed;
    struct feed_reader *reader;
    struct module_places places;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    fake_feed_open(&fixture->feed, getpid());
    assert_int_equal(feed_reader_open(&fixture->reader, fake_feed_memfd(&fixture->feed)), 0);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    module_places_free(&fixture->places);
    feed_reader_free(fixture->reader);
    fake_feed_close(&fixture->feed);
    free(fixture);
    return 0;
}

static uint32_t add_module(struct fixture *fixture, uint64_t start, uint64_t end, uint64_t bias)
{
    const struct feed_module module = { .bias = bias, .start = start, .end = end };

    return feed_writer_module_add(&fixture->feed.writer, &module, "/lib/x.so");
}

static uint64_t place_of(struct fixture *fixture, uint64_t pc)
{
    return module_places_find(&fixture->places, fixture->reader, pc);
}

static void what_lies_in_no_module_stays(void **state)
{
    struct fixture *fixture = *state;

    assert_int_equal(place_of(fixture, 0x1000), 0x1000);
    add_module(fixture, 0x1000, 0x2000, 0);
    assert_int_equal(place_of(fixture, 0xfff), 0xfff);
    assert_int_equal(place_of(fixture, 0x2000), 0x2000);
}

static void a_module_that_came_since_is_found(void **state)
{
    struct fixture *fixture = *state;
    uint32_t first = add_module(fixture, 0x1000, 0x2000, 0x800), second;

    assert_int_equal(place_of(fixture, 0x1900), FEED_FRAME(first, 0x1100));
    assert_int_equal(place_of(fixture, 0x3000), 0x3000);
    second = add_module(fixture, 0x3000, 0x4000, 0x3000);
    assert_int_equal(place_of(fixture, 0x3000), FEED_FRAME(second, 0));
    assert_int_equal(place_of(fixture, 0x1900), FEED_FRAME(first, 0x1100));
}

static void of_two_at_one_place_the_newest_is_taken(void **state)
{
    struct fixture *fixture = *state;
    uint32_t old = add_module(fixture, 0x1000, 0x5000, 0);
    uint32_t new = add_module(fixture, 0x2000, 0x3000, 0x2000);

    assert_int_equal(place_of(fixture, 0x1fff), FEED_FRAME(old, 0x1fff));
    assert_int_equal(place_of(fixture, 0x2000), FEED_FRAME(new, 0));
    assert_int_equal(place_of(fixture, 0x3000), FEED_FRAME(old, 0x3000));
}

static void a_module_that_ends_before_it_begins_is_nowhere(void **state)
{
    struct fixture *fixture = *state;
    uint32_t good;

    add_module(fixture, 0x2000, 0x1000, 0);
    add_module(fixture, 0x1500, 0x1500, 0);
    good = add_module(fixture, 0x4000, 0x5000, 0x4000);
    assert_int_equal(place_of(fixture, 0x1500), 0x1500);
    assert_int_equal(place_of(fixture, 0x4010), FEED_FRAME(good, 0x10));
}

/* As each of them in turn, from the newest on. */
static void many_are_found_as_one_by_one(void **state)
{
    enum { MODULES = 300 };
    struct fixture *fixture = *state;
    uint64_t starts[MODULES + 1], ends[MODULES + 1];
    uint32_t seed = 1;

    for (uint32_t i = 1; i <= MODULES; i++) {
        starts[i] = chance_next(&seed) >> 12;
        ends[i] = starts[i] + (chance_next(&seed) >> 20);
        assert_int_equal(add_module(fixture, starts[i], ends[i], 0), i);
    }
    for (int i = 0; i < 20000; i++) {
        uint64_t pc = chance_next(&seed) >> 12;
        uint32_t number = MODULES;

        while (number && (pc < starts[number] || pc >= ends[number]))
            number--;
        assert_int_equal(place_of(fixture, pc), FEED_FRAME(number, pc));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_lies_in_no_module_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_module_that_came_since_is_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(of_two_at_one_place_the_newest_is_taken, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_module_that_ends_before_it_begins_is_nowhere, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(many_are_found_as_one_by_one, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
