/* Unwind tables in their file: built once, by whom they are known, and as a program maps them. */
#include "sampler/profile/unwinding/table_store.h"

#include "sampler/capture/unwind/shared_tables.h"
#include "sampler/feed/layout.h"
#include "sampler/profile/unwinding/table_source.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { LOOKS_MAX = 60000 };

static char folder[] = "/tmp/table_store_test-XXXXXX";
static char path[64], copy[64];
static struct table_store *store;
static _Atomic int done_count;

static void count_done(void *context)
{
    (void)context;
    done_count++;
}

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof(path), "%s/tables", folder);
    snprintf(copy, sizeof(copy), "%s/copy", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

static int open_store(void **state)
{
    (void)state;
    done_count = 0;
    return table_store_new(&store, path, count_done, NULL);
}

static int close_store(void **state)
{
    (void)state;
    table_store_free(store);
    unlink(copy);
    return access(path, F_OK) == 0 ? -1 : 0;
}

/* Without a build id it is known by its file. */
static struct module_file program(int32_t pid)
{
    return (struct module_file){ .path = "/proc/self/exe", .pid = pid };
}

/* Its program headers lie in its first page. */
static uint64_t own_start(void)
{
    return getauxval(AT_PHDR) & ~(uint64_t)4095;
}

static struct table_place placed(const struct module_file *module)
{
    struct table_place place;

    for (int look = 0; !table_store_ask(store, module, &place); look++) {
        assert_true(look < LOOKS_MAX);
        nanosleep(&(struct timespec){ 0, 1000 * 1000 }, NULL);
    }
    return place;
}

static void copy_program(void)
{
    char buffer[1 << 16];
    int in = open("/proc/self/exe", O_RDONLY), out = open(copy, O_WRONLY | O_CREAT | O_TRUNC, 0755);
    ssize_t got;

    assert_true(in >= 0 && out >= 0);
    while ((got = read(in, buffer, sizeof(buffer))) > 0)
        assert_int_equal(write(out, buffer, (size_t)got), got);
    close(in);
    close(out);
}

static void a_table_is_built_once_for_all_who_have_the_build(void **state)
{
    const uint8_t build_id[] = { 1, 2, 3 };
    /* There is no such file, and no process. */
    struct module_file first = { .path = "/nowhere", .build_id = build_id, .build_id_bytes = 3 };
    struct module_file second = program(getpid()), third = program(getpid());
    struct table_place place = placed(&second), again = placed(&third);

    (void)state;
    assert_true(place.at >= FEED_TABLE_ALIGN && place.at % FEED_TABLE_ALIGN == 0);
    assert_int_equal(again.at, place.at);
    assert_int_equal(again.bytes, place.bytes);
    /* It is told of after it is there. */
    for (int look = 0; !done_count && look < LOOKS_MAX; look++)
        nanosleep(&(struct timespec){ 0, 1000 * 1000 }, NULL);
    assert_int_equal(done_count, 1);
    assert_int_equal(placed(&first).at, FEED_TABLE_NONE);
}

static void a_file_that_was_written_anew_is_another_build(void **state)
{
    struct module_file module = { .path = copy, .pid = getpid() };
    struct timespec times[2] = { { 0, UTIME_OMIT }, { 1000, 0 } };
    struct table_place before, after;

    (void)state;
    copy_program();
    before = placed(&module);
    assert_int_equal(utimensat(AT_FDCWD, copy, times, 0), 0);
    after = placed(&module);
    assert_int_not_equal(before.at, after.at);
    assert_int_equal(before.bytes, after.bytes);
}

static void what_one_process_could_not_give_another_one_may(void **state)
{
    const uint8_t build_id[] = { 9 };
    struct module_file gone = {
        .path = "[none]", .build_id = build_id, .build_id_bytes = 1, .pid = 1, .address = 4096
    };
    struct module_file here = gone;

    (void)state;
    assert_int_equal(placed(&gone).at, FEED_TABLE_NONE);
    assert_int_equal(placed(&gone).at, FEED_TABLE_NONE);
    here.pid = getpid();
    here.address = own_start();
    assert_true(placed(&here).at > FEED_TABLE_NONE);
}

static void a_program_maps_the_table_as_it_was_built_also_when_the_file_has_gone(void **state)
{
    struct module_file module = program(getpid());
    struct table_place place = placed(&module);
    struct shared_tables tables = { NULL };
    const struct unwind_table *mapped;
    struct unwind_table *built;

    (void)state;
    assert_true(shared_tables_open(&tables, path));
    assert_int_equal(unlink(path), 0);
    mapped = shared_tables_map(&tables, place.at, place.bytes);
    assert_non_null(mapped);
    assert_true(table_source_build(&module, &built, &(bool){ false }));
    assert_int_equal(built->bytes, place.bytes);
    assert_memory_equal(mapped, built, place.bytes);
    free(built);
    shared_tables_close(&tables);
    assert_null(shared_tables_map(&tables, place.at, place.bytes));
    assert_false(shared_tables_open(&tables, path));
}

static void
a_tables_file_is_still_the_one_that_was_opened_until_another_service_makes_its_own(void **state)
{
    struct shared_tables tables = { NULL };
    struct table_store *other;

    (void)state;
    assert_false(shared_tables_are_still(&tables, path));
    assert_true(shared_tables_open(&tables, path));
    assert_true(shared_tables_are_still(&tables, path));
    assert_int_equal(table_store_new(&other, path, NULL, NULL), 0);
    assert_false(shared_tables_are_still(&tables, path));
    table_store_free(other);
    assert_false(shared_tables_are_still(&tables, path));
    shared_tables_close(&tables);
}

static void memory_gives_the_table_that_the_file_gives(void **state)
{
    struct module_file file = program(getpid()), memory = { .path = "[none]", .pid = getpid() };
    struct unwind_table *by_file, *by_memory;

    (void)state;
    memory.address = own_start();
    assert_true(table_source_build(&file, &by_file, &(bool){ false }));
    assert_true(table_source_build(&memory, &by_memory, &(bool){ false }));
    assert_int_equal(by_memory->row_count, by_file->row_count);
    assert_memory_equal(unwind_table_rows(by_memory), unwind_table_rows(by_file),
                        by_file->row_count * sizeof(struct unwind_row));
    free(by_file);
    free(by_memory);
}

#define STORE_TEST(name) cmocka_unit_test_setup_teardown(name, open_store, close_store)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(a_table_is_built_once_for_all_who_have_the_build),
        STORE_TEST(a_file_that_was_written_anew_is_another_build),
        STORE_TEST(what_one_process_could_not_give_another_one_may),
        STORE_TEST(a_program_maps_the_table_as_it_was_built_also_when_the_file_has_gone),
        STORE_TEST(
            a_tables_file_is_still_the_one_that_was_opened_until_another_service_makes_its_own),
        cmocka_unit_test(memory_gives_the_table_that_the_file_gives),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
