/* What the program was started with, and what it loads itself. */
#include "sampler/capture/modules/start_objects.h"

#include <dlfcn.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* As our constructor does. */
static int note(void **state)
{
    (void)state;
    start_objects_note();
    return 0;
}

static bool is_held(const struct link_map *object)
{
    uint64_t at = (uint64_t)object->l_ld;

    return start_objects_hold(at, at + 1);
}

static void the_program_and_all_its_libraries_are_held(void **state)
{
    int count = 0;

    (void)state;
    for (const struct link_map *object = _r_debug.r_map; object; object = object->l_next, count++)
        assert_true(is_held(object));
    assert_true(count >= 3); /* this program, libc, the loader */
    assert_false(start_objects_hold(0, 4096));
}

static void what_is_loaded_later_is_not(void **state)
{
    void *handle = dlopen("libresolv.so.2", RTLD_NOW);
    struct link_map *object;

    (void)state;
    assert_non_null(handle);
    assert_int_equal(dlinfo(handle, RTLD_DI_LINKMAP, &object), 0);
    start_objects_note(); /* what was there the first time counts */
    assert_false(is_held(object));
    dlclose(handle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_program_and_all_its_libraries_are_held),
        cmocka_unit_test(what_is_loaded_later_is_not),
    };

    return cmocka_run_group_tests(tests, note, NULL);
}
