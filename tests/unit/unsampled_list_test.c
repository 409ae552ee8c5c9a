/* Programs that were told of as not sampled: how often each, and what is taken back. */
#include "server/feeds/unsampled_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static int make_list(void **state)
{
    *state = calloc(1, sizeof(struct unsampled_list));
    return *state ? 0 : -1;
}

static int free_list(void **state)
{
    free(*state);
    return 0;
}

static struct unsampled_program *add(struct unsampled_list *list, pid_t pid, uint64_t start,
                                     const char *exe)
{
    return unsampled_list_add(list, pid, start, 0, exe, UNSAMPLED_STATIC);
}

static void a_process_that_is_found_again_counts_once(void **state)
{
    struct unsampled_list *list = *state;
    const struct unsampled_program *program = add(list, 1, 10, "/bin/a");

    assert_int_equal(program->count, 1);
    assert_ptr_equal(add(list, 2, 10, "/bin/a"), program);
    assert_null(add(list, 1, 10, "/bin/a"));
    assert_int_equal(program->count, 2);
    assert_int_equal(program->pid, 2);
}

static void another_process_of_the_same_pid_counts(void **state)
{
    struct unsampled_list *list = *state;
    const struct unsampled_program *program = add(list, 1, 10, "/bin/a");

    assert_ptr_equal(add(list, 1, 11, "/bin/a"), program);
    assert_int_equal(program->count, 2);
}

static void one_program_for_two_reasons_is_two(void **state)
{
    struct unsampled_list *list = *state;
    const struct unsampled_program *program = add(list, 1, 10, "/bin/a");

    assert_ptr_not_equal(unsampled_list_add(list, 1, 10, 0, "/bin/a", UNSAMPLED_HIDDEN), program);
    assert_int_equal(program->count, 1);
}

static void what_finds_no_place_is_counted_once_for_each_process(void **state)
{
    struct unsampled_list *list = *state;
    char exe[16];

    for (int i = 0; i < LISTED_MAX; i++) {
        snprintf(exe, sizeof(exe), "/bin/%d", i);
        assert_non_null(add(list, i + 1, 10, exe));
    }
    assert_null(add(list, 100, 10, "/bin/more"));
    assert_null(add(list, 100, 10, "/bin/more"));
    assert_null(add(list, 101, 10, "/bin/more"));
    assert_int_equal(list->others, 2);
    assert_non_null(add(list, 102, 10, "/bin/7"));
    assert_int_equal(list->others, 2);
}

static void what_is_removed_counts_less_and_leaves_the_pid_before_it(void **state)
{
    struct unsampled_list *list = *state;
    struct unsampled_program *program = add(list, 1, 10, "/bin/a");

    add(list, 2, 10, "/bin/a");
    assert_ptr_equal(unsampled_list_remove(list, &list->processes[1]), program);
    assert_int_equal(program->count, 1);
    assert_int_equal(program->pid, 1);
    assert_ptr_equal(unsampled_list_remove(list, &list->processes[0]), program);
    assert_int_equal(program->count, 0);
    assert_ptr_equal(add(list, 3, 10, "/bin/b"), program);
    assert_string_equal(program->exe, "/bin/b");
}

static void the_latest_of_many_processes_are_remembered(void **state)
{
    struct unsampled_list *list = *state;

    for (int i = 0; i <= COUNTED_MAX; i++)
        add(list, i + 1, 10, "/bin/a");
    assert_int_equal(list->programs[0].count, COUNTED_MAX + 1);
    assert_null(add(list, 2, 10, "/bin/a"));
}

#define LIST_TEST(name) cmocka_unit_test_setup_teardown(name, make_list, free_list)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIST_TEST(a_process_that_is_found_again_counts_once),
        LIST_TEST(another_process_of_the_same_pid_counts),
        LIST_TEST(one_program_for_two_reasons_is_two),
        LIST_TEST(what_finds_no_place_is_counted_once_for_each_process),
        LIST_TEST(what_is_removed_counts_less_and_leaves_the_pid_before_it),
        LIST_TEST(the_latest_of_many_processes_are_remembered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
