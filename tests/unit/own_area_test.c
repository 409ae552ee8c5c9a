/* Where the sampler maps memory, before and after it has an area of its own. */
#include "sampler/capture/system/pages.h"
#include "sampler/feed/own_area.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { BYTES = 1 << 20 };

static void the_kernel_chooses_until_it_begins(void **state)
{
    (void)state;
    assert_int_equal(own_area_next(BYTES), 0);
}

static int begin(void **state)
{
    (void)state;
    own_area_begin();
    return 0;
}

static void places_follow_each_other_in_whole_pages(void **state)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t first = own_area_next(BYTES), second = own_area_next(1), third;

    (void)state;
    assert_true(first > 0);
    assert_int_equal(second, first + BYTES);
    own_area_begin(); /* a second time: nothing */
    third = own_area_next(1);
    assert_int_equal(third, second + page);
    assert_int_equal(first % page, 0);
}

static unsigned areas_between(const char *start, const char *end)
{
    char line[512];
    unsigned count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");

    assert_non_null(maps);
    while (fgets(line, sizeof(line), maps)) {
        char *from = NULL, *to = NULL;

        assert_int_equal(sscanf(line, "%p-%p", (void **)&from, (void **)&to), 2);
        count += from < end && to > start;
    }
    fclose(maps);
    return count;
}

static void the_kernel_makes_one_area_of_what_is_mapped_one_after_the_other(void **state)
{
    char *first = pages_new(6000), *second, *third;

    (void)state;
    first[0] = 1; /* one that is in use already, as a tick finds it */
    second = pages_new(20000);
    third = pages_new(1);
    assert_true(second > first && third > second);
    assert_int_equal(areas_between(first, third + 1), 1);
}

static void a_hole_that_was_just_made_is_not_taken(void **state)
{
    char *hole = mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *made;

    (void)state;
    assert_ptr_not_equal(hole, MAP_FAILED);
    assert_int_equal(munmap(hole, BYTES), 0);
    made = pages_new(BYTES);
    assert_non_null(made);
    assert_true(made + BYTES <= hole || made >= hole + BYTES);
    pages_free(made, BYTES);
}

static void what_grows_keeps_its_contents_and_takes_no_hole(void **state)
{
    char *hole = mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *small = pages_new(4096), *larger;

    (void)state;
    assert_ptr_not_equal(hole, MAP_FAILED);
    assert_non_null(small);
    strcpy(small, "kept");
    assert_int_equal(munmap(hole, BYTES), 0);
    larger = pages_grow(small, 4096, BYTES);
    assert_non_null(larger);
    assert_string_equal(larger, "kept");
    assert_true(larger + BYTES <= hole || larger >= hole + BYTES);
    larger[BYTES - 1] = 1;
    pages_free(larger, BYTES);
}

static int reserve(void **state)
{
    begin(state);
    own_area_reserve();
    return 0;
}

static void what_is_reserved_is_given_away_page_by_page_until_it_is_used_up(void **state)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *first = pages_new(page + 1), *second = pages_new(1), *freed, *beyond;

    (void)state;
    assert_ptr_equal(second, first + 2 * page);
    assert_true(own_area_took((uint64_t)first) && own_area_took((uint64_t)second));
    memset(first, 1, 2 * page);
    pages_free(first, page + 1);
    assert_int_equal(first[page], 0); /* it stays mapped */
    while (own_area_took((uint64_t)(freed = pages_new(page))))
        ;
    assert_non_null(freed); /* the kernel's */
    pages_free(freed, page);
    beyond = pages_new(BYTES);
    assert_non_null(beyond);
    assert_false(own_area_took((uint64_t)beyond));
    pages_free(beyond, BYTES);
}

static void what_was_reserved_may_grow(void **state)
{
    char *small = pages_new(4096), *larger;

    (void)state;
    assert_true(own_area_took((uint64_t)small));
    strcpy(small, "kept");
    larger = pages_grow(small, 4096, BYTES);
    assert_non_null(larger);
    assert_string_equal(larger, "kept");
    pages_free(larger, BYTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_kernel_chooses_until_it_begins),
        cmocka_unit_test_setup(places_follow_each_other_in_whole_pages, begin),
        cmocka_unit_test_setup(the_kernel_makes_one_area_of_what_is_mapped_one_after_the_other,
                               begin),
        cmocka_unit_test_setup(a_hole_that_was_just_made_is_not_taken, begin),
        cmocka_unit_test_setup(what_grows_keeps_its_contents_and_takes_no_hole, begin),
        cmocka_unit_test_setup(what_was_reserved_may_grow, reserve),
        cmocka_unit_test_setup(what_is_reserved_is_given_away_page_by_page_until_it_is_used_up,
                               reserve),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
