/* Where readers of pprof profiles think that modules are, and what is at an address. */
#include "protocol/pprof/pprof_places.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Code at offset, so far into its file. */
static struct snapshot_library library(const char *id, uint64_t offset, uint64_t bytes,
                                       uint64_t file_offset)
{
    struct snapshot_library made = { .path = "/bin/x",
                                     .code_offset = offset,
                                     .code_bytes = bytes,
                                     .code_file_offset = file_offset };

    snprintf(made.id, sizeof(made.id), "%s", id);
    return made;
}

static void the_first_one_stays_where_its_file_says(void **state)
{
    struct pprof_places places = { 0 };
    struct snapshot_library program = library("libraries/1", 0x401234, 0x2000, 0x1234);
    const struct pprof_place *place = pprof_place_of(&places, &program);

    (void)state;
    assert_int_equal(place->start, 0x401000);
    assert_int_equal(place->limit, 0x404000);
    assert_int_equal(place->file_offset, 0x1000);
    assert_int_equal(pprof_address(&places, &program, 0x401300), 0x401300);
    pprof_places_free(&places);
}

static void one_that_would_lie_over_another_is_moved_and_stays_there(void **state)
{
    struct pprof_places places = { 0 };
    struct snapshot_library first = library("libraries/1", 0x1000, 0x2000, 0x1000);
    struct snapshot_library second = library("libraries/2", 0x2000, 0x1000, 0x2000);

    (void)state;
    assert_int_equal(pprof_address(&places, &first, 0x1800), 0x1800);
    assert_int_equal(pprof_address(&places, &second, 0x2800), 0x3800);
    assert_int_equal(pprof_address(&places, &first, 0x1800), 0x1800);
    assert_int_equal(pprof_address(&places, &second, 0x2800), 0x3800);
    pprof_places_free(&places);
}

static void what_is_outside_of_its_code_has_no_address(void **state)
{
    struct pprof_places places = { 0 };
    struct snapshot_library program = library("libraries/1", 0x1000, 0x1000, 0x1000);
    struct snapshot_library script = { .id = "libraries/2", .path = "/x.py", .runtime = "python" };
    struct snapshot_library unknown = { .id = "libraries/3", .path = "[unknown]" };

    (void)state;
    assert_int_equal(pprof_address(&places, &program, 0x2000), 0);
    assert_int_equal(pprof_address(&places, &program, SNAPSHOT_NO_OFFSET), 0);
    assert_null(pprof_place_of(&places, &script));
    assert_null(pprof_place_of(&places, &unknown));
    pprof_places_free(&places);
}

static void the_function_at_an_address_is_found(void **state)
{
    struct pprof_places places = { 0 };
    struct snapshot_library program = library("libraries/1", 0x1000, 0x1000, 0x1000);
    struct snapshot_function functions[] = {
        { .name = "second", .offset = 0x1100, .size = 0x40 },
        { .name = "first", .offset = 0x1010, .size = 0x10 },
        { .name = "nowhere", .offset = SNAPSHOT_NO_OFFSET },
    };
    size_t size;

    (void)state;
    assert_null(pprof_places_name(&places, 0x1010, &size));
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < 3; i++)
            pprof_places_met(&places, &program, &functions[i]);
    assert_memory_equal(pprof_places_name(&places, 0x101f, &size), "first", 5);
    assert_int_equal(size, 5);
    assert_memory_equal(pprof_places_name(&places, 0x1100, &size), "second", 6);
    assert_null(pprof_places_name(&places, 0x1020, &size));
    assert_null(pprof_places_name(&places, 0, &size));
    assert_null(pprof_places_name(&places, UINT64_MAX, &size));
    pprof_places_free(&places);
}

/* Each profile tells of its functions again. */
static void the_same_functions_again_and_again_push_none_out(void **state)
{
    struct pprof_places places = { 0 };
    struct snapshot_library program = library("libraries/1", 0x1000, 0x1000, 0x1000);
    struct snapshot_function rare = { .name = "rare", .offset = 0x1100, .size = 0x40 };
    struct snapshot_function frequent = { .name = "frequent", .offset = 0x1010, .size = 0x10 };
    size_t size;

    (void)state;
    pprof_places_met(&places, &program, &rare);
    for (int i = 0; i < 3 * PPROF_FUNCTIONS_MAX; i++)
        pprof_places_met(&places, &program, &frequent);
    assert_non_null(pprof_places_name(&places, 0x1100, &size));
    assert_non_null(pprof_places_name(&places, 0x1010, &size));
    pprof_places_free(&places);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_one_stays_where_its_file_says),
        cmocka_unit_test(one_that_would_lie_over_another_is_moved_and_stays_there),
        cmocka_unit_test(what_is_outside_of_its_code_has_no_address),
        cmocka_unit_test(the_function_at_an_address_is_found),
        cmocka_unit_test(the_same_functions_again_and_again_push_none_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
