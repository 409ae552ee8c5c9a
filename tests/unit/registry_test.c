#include "sampler/profile/naming/registry.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const uint8_t one[20] = { 1 }, two[20] = { 2 };

static int open_registry(void **state)
{
    return registry_new((struct registry **)state);
}

static int close_registry(void **state)
{
    registry_free(*state);
    return 0;
}

static void the_same_file_keeps_its_number_and_another_build_gets_its_own(void **state)
{
    struct registry *registry = *state;
    uint32_t first = registry_number(registry, "/usr/lib/libx.so.1", one, 20);

    assert_int_equal(first, 1);
    assert_int_equal(registry_number(registry, "/usr/lib/libx.so.1", two, 20), 2);
    assert_int_equal(registry_number(registry, "/usr/lib/libx.so.1", one, 0), 3);
    assert_int_equal(registry_number(registry, "/opt/libx.so.1", one, 20), 4);
    assert_int_equal(registry_number(registry, "/usr/lib/libx.so.1", one, 20), first);
}

/* The kernel's mark on it; without a build id it may be another file than the one there now. */
static void a_deleted_file_is_the_same_module_where_a_build_id_says_so(void **state)
{
    struct registry *registry = *state;
    uint32_t first = registry_number(registry, "/opt/p.so", one, 20);
    uint32_t plain = registry_number(registry, "/opt/p.so", one, 0);

    assert_int_equal(registry_number(registry, "/opt/p.so (deleted)", one, 20), first);
    assert_int_not_equal(registry_number(registry, "/opt/p.so (deleted)", two, 20), first);
    assert_int_not_equal(registry_number(registry, "/opt/p.so (deleted)", one, 0), plain);
    assert_string_equal(registry_module(registry, first)->path, "/opt/p.so");
}

static void the_last_process_seen_with_a_module_is_kept(void **state)
{
    struct module *module =
        registry_module(*state, registry_number(*state, "/opt/seen.so", one, 20));

    assert_int_equal(module->pid, 0);
    registry_seen(module, 10, 0x1000, 0x800);
    registry_seen(module, 11, 0x2000, 0x1800);
    registry_seen(module, 0, 0x3000, 0x2800); /* of another pid namespace */
    assert_int_equal(module->pid, 11);
    assert_int_equal(module->address, 0x2000);
    assert_int_equal(module->bias, 0x2800); /* it is a number, reachable or not */
}

static void a_module_knows_its_name_and_build_id(void **state)
{
    struct module *module =
        registry_module(*state, registry_number(*state, "/opt/app/bin/app", one, 2));

    assert_string_equal(module->path, "/opt/app/bin/app");
    assert_string_equal(module->name, "app");
    assert_string_equal(module->build_id_hex, "0100");
}

static void number_zero_is_code_in_no_module(void **state)
{
    struct module *module = registry_module(*state, 0);

    assert_string_equal(module->path, "[unknown]");
    assert_string_equal(module->build_id_hex, "");
    assert_false(module->system);
}

static void system_libraries_are_told_from_the_users_own(void **state)
{
    static const struct {
        const char *path;
        bool system;
    } cases[] = { { "/usr/lib/x86_64-linux-gnu/libc.so.6", true },
                  { "/lib64/ld-linux-x86-64.so.2", true },
                  { "[vdso]", true },
                  { "/usr/bin/python3.11", false },
                  { "/home/me/usr/lib/libmine.so", false },
                  { "/library/x.so", false },
                  { "/usr/local/lib/libmine.so", false } };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint32_t number = registry_number(*state, cases[i].path, one, 0);

        assert_int_equal(registry_module(*state, number)->system, cases[i].system);
    }
}

static void the_sampler_itself_is_known(void **state)
{
    uint32_t sampler = registry_number(*state, "/usr/lib/isoscope/libisoscope.so", one, 0);
    uint32_t other = registry_number(*state, "/usr/lib/libisoscope_service.so", one, 0);

    assert_true(registry_module(*state, sampler)->sampler);
    assert_false(registry_module(*state, other)->sampler);
}

static void strange_paths_are_kept_as_they_are(void **state)
{
    uint32_t number = registry_number(*state, "", one, 0);

    assert_true(number > 0);
    assert_string_equal(registry_module(*state, number)->name, "");
    number = registry_number(*state, "dir/", one, 0);
    assert_string_equal(registry_module(*state, number)->name, "dir/");
    assert_true(registry_number(*state, "\xff\x01\n", one, 0) > number);
}

/* A program may write a megabyte of it, thousands of times. */
static void an_endless_path_is_cut(void **state)
{
    char *path = malloc(100000);
    uint32_t number;

    memset(path, 'a', 99999);
    path[99999] = 0;
    number = registry_number(*state, path, one, 0);
    assert_int_equal(strlen(registry_module(*state, number)->path), PATH_MAX);
    assert_int_equal(registry_number(*state, path, one, 0), number);
    free(path);
}

static void what_does_not_fit_any_more_is_unknown(void **state)
{
    char path[32];

    for (uint32_t i = 1; i <= MODULES_MAX; i++) {
        snprintf(path, sizeof(path), "/m/%u", i);
        assert_int_equal(registry_number(*state, path, one, 0), i);
    }
    assert_int_equal(registry_number(*state, "/one/more", one, 0), 0);
    assert_int_equal(registry_number(*state, "/m/77", one, 0), 77);
}

int main(void)
{
#define REGISTRY_TEST(test) cmocka_unit_test_setup_teardown(test, open_registry, close_registry)
    const struct CMUnitTest tests[] = {
        REGISTRY_TEST(the_same_file_keeps_its_number_and_another_build_gets_its_own),
        REGISTRY_TEST(a_deleted_file_is_the_same_module_where_a_build_id_says_so),
        REGISTRY_TEST(the_last_process_seen_with_a_module_is_kept),
        REGISTRY_TEST(a_module_knows_its_name_and_build_id),
        REGISTRY_TEST(number_zero_is_code_in_no_module),
        REGISTRY_TEST(system_libraries_are_told_from_the_users_own),
        REGISTRY_TEST(the_sampler_itself_is_known),
        REGISTRY_TEST(strange_paths_are_kept_as_they_are),
        REGISTRY_TEST(an_endless_path_is_cut),
        REGISTRY_TEST(what_does_not_fit_any_more_is_unknown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
