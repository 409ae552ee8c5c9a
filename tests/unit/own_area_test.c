/* Where the sampler maps memory, before and after it has an area of its own. */
#include "sampler/capture/system/pages.h"
#include "sampler/feed/own_area.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

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

static void places_do_not_meet_and_leave_room_to_grow(void **state)
{
    uint64_t first = own_area_next(BYTES), second = own_area_next(1), third;

    (void)state;
    assert_true(first > 0 && second > first + BYTES);
    own_area_begin(); /* a second time: nothing */
    third = own_area_next(1);
    assert_true(third > second);
    assert_int_equal((first | second | third) % 65536, 0);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_kernel_chooses_until_it_begins),
        cmocka_unit_test_setup(places_do_not_meet_and_leave_room_to_grow, begin),
        cmocka_unit_test_setup(a_hole_that_was_just_made_is_not_taken, begin),
        cmocka_unit_test_setup(what_grows_keeps_its_contents_and_takes_no_hole, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
