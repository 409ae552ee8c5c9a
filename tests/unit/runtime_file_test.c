#include "sampler/profile/runtimes/runtime_file.h"

#include "fake_module.h"
#include "sampler/feed/cleanup.h"
#include "skip_because.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define PYTHON "/usr/bin/python3"

enum { ROOM = 8 };

static struct runtime_file *open_file(const char *path)
{
    struct runtime_file *file = runtime_file_open(&(struct module_file){ .path = path });

    assert_non_null(file);
    return file;
}

static void close_file(struct runtime_file **file)
{
    runtime_file_close(*file);
}

static void a_missing_file_is_none(void **state)
{
    (void)state;
    assert_null(runtime_file_open(&(struct module_file){ .path = "/nonexistent" }));
    assert_null(runtime_file_open(&(struct module_file){ .path = "nonsense" }));
}

static void a_file_tells_where_its_symbols_are(void **state)
{
    CLEANUP(close_file) struct runtime_file *file = open_file(COLD_FUNCTION_STRIPPED);
    uint64_t vaddr = 0, size = 0;

    (void)state;
    assert_true(runtime_file_exports(file, "plain"));
    assert_false(runtime_file_exports(file, "plai"));
    assert_true(runtime_file_symbol(file, "plain", &vaddr, &size));
    assert_true(vaddr && size);
    assert_false(runtime_file_symbol(file, "mostly_not", &vaddr, NULL));
    assert_false(runtime_file_symbol(file, "fprintf", &vaddr, NULL)); /* of another file */
}

static void bytes_of_the_file_are_what_it_has_there(void **state)
{
    CLEANUP(close_file) struct runtime_file *file = open_file(COLD_FUNCTION_STRIPPED);
    unsigned char magic[4] = { 0 };

    (void)state;
    assert_true(runtime_file_bytes(file, 0, magic, sizeof(magic)));
    assert_memory_equal(magic, "\177ELF", 4);
    assert_false(runtime_file_bytes(file, UINT64_C(1) << 40, magic, sizeof(magic)));
}

static void a_function_in_one_piece_is_one(void **state)
{
    CLEANUP(close_file) struct runtime_file *file = open_file(COLD_FUNCTION_STRIPPED);
    struct runtime_piece pieces[ROOM];

    (void)state;
    assert_int_equal(runtime_file_pieces(file, "plain", pieces, ROOM), 1);
    assert_int_equal(runtime_file_pieces(file, "nobody", pieces, ROOM), 0);
    assert_int_equal(runtime_file_pieces(file, "plain", pieces, 0), 0);
}

/* The symbol table of the file with symbols says what is right. */
static void a_cold_part_is_found_without_its_symbol(void **state)
{
    CLEANUP(close_file) struct runtime_file *stripped = open_file(COLD_FUNCTION_STRIPPED);
    CLEANUP(close_file) struct runtime_file *whole = open_file(COLD_FUNCTION);
    struct runtime_piece found[ROOM], right[ROOM];
    uint32_t count = runtime_file_pieces(whole, "mostly", right, ROOM);

    (void)state;
    if (count < 2)
        skip_because("this compiler put no part of the function elsewhere");
    assert_int_equal(count, 2);
    assert_int_equal(runtime_file_pieces(stripped, "mostly", found, ROOM), 2);
    assert_memory_equal(found, right, 2 * sizeof(*found));
    assert_int_equal(runtime_file_pieces(stripped, "mostly", found, 1), 1);
}

static size_t read_bytes(const char *from, unsigned char *bytes, size_t room)
{
    FILE *file = fopen(from, "r");
    size_t count;

    assert_non_null(file);
    count = fread(bytes, 1, room, file);
    fclose(file);
    return count;
}

static void ask_all(const unsigned char *bytes, size_t count)
{
    FILE *file = fopen(path, "w");
    struct runtime_piece pieces[ROOM];
    struct runtime_file *opened;
    unsigned char byte;

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    fclose(file);
    opened = runtime_file_open(&(struct module_file){ .path = path });
    if (opened) {
        runtime_file_exports(opened, "mostly");
        runtime_file_bytes(opened, 0x1000, &byte, 1);
        assert_in_range(runtime_file_pieces(opened, "mostly", pieces, ROOM), 0, ROOM);
    }
    runtime_file_close(opened);
}

/* What it says then does not matter: it ends, and reads nothing that is not there. */
static void a_file_that_is_cut_off_or_lies_does_no_harm(void **state)
{
    static unsigned char bytes[1 << 16];
    size_t count = read_bytes(COLD_FUNCTION_STRIPPED, bytes, sizeof(bytes));
    uint32_t chance = 1;

    (void)state;
    for (size_t cut = 0; cut < count; cut += count / 64)
        ask_all(bytes, cut);
    for (int i = 0; i < 400; i++) {
        unsigned char before;
        size_t at;

        chance = chance * 1664525 + 1013904223;
        at = chance % count;
        before = bytes[at];
        bytes[at] = (unsigned char)(chance >> 24);
        ask_all(bytes, count);
        bytes[at] = before;
    }
}

/* As the distribution ships it: without symbols but those that extensions need. */
static void python_has_its_loop_in_pieces_that_do_not_overlap(void **state)
{
    struct runtime_file *file = runtime_file_open(&(struct module_file){ .path = PYTHON });
    struct runtime_piece pieces[ROOM];
    uint32_t count;

    (void)state;
    if (!file)
        skip_because("there is no " PYTHON);
    if (!runtime_file_exports(file, "_PyEval_EvalFrameDefault")) {
        runtime_file_close(file);
        skip_because(PYTHON " has its interpreter in a library");
    }
    count = runtime_file_pieces(file, "_PyEval_EvalFrameDefault", pieces, ROOM);
    assert_in_range(count, 1, ROOM);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(pieces[i].start < pieces[i].end);
        for (uint32_t k = 0; k < i; k++)
            assert_true(pieces[i].end <= pieces[k].start || pieces[k].end <= pieces[i].start);
    }
    runtime_file_close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_file_is_none),
        cmocka_unit_test(a_file_tells_where_its_symbols_are),
        cmocka_unit_test(bytes_of_the_file_are_what_it_has_there),
        cmocka_unit_test(a_function_in_one_piece_is_one),
        cmocka_unit_test(a_cold_part_is_found_without_its_symbol),
        cmocka_unit_test_setup_teardown(a_file_that_is_cut_off_or_lies_does_no_harm, make_directory,
                                        remove_directory),
        cmocka_unit_test(python_has_its_loop_in_pieces_that_do_not_overlap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
