/*
 * code_lines_test [FILE.lines...] - line tables of CPython 3.9 to 3.13, as line_tables/record.py recorded them, at each
 * instruction; of others as their formats are written down.
 */
#include "sampler/profile/naming/code_lines.h"

#include "sampler/feed/cleanup.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { UNIT_BYTES = 2, WORD_MAX = 255 };

static char **files;

static void free_text(char **text)
{
    free(*text);
}

static void close_file(FILE **file)
{
    if (*file)
        fclose(*file);
}

static uint32_t bytes_of(const char *hex, uint8_t *out)
{
    uint32_t count = 0;

    for (; hex[0] && hex[1] && sscanf(hex, "%2hhx", &out[count]) == 1; hex += 2)
        count++;
    return count;
}

static uint32_t line_of(enum feed_code_lines lines, uint32_t first_line, const void *table,
                        size_t bytes, uint32_t position)
{
    const struct feed_code_text code = {
        .lines = lines, .first_line = first_line, .table = table, .table_bytes = (uint32_t)bytes
    };

    return code_line(&code, position);
}

/* "POSITION LINE" up to "SIZE end". Returns how many instructions were asked. */
static uint32_t check_code(FILE *file, const char *path, const char *name,
                           const struct feed_code_text *code)
{
    uint32_t from, to, line, asked = 0;
    char word[WORD_MAX + 1];

    assert_int_equal(fscanf(file, "%" SCNu32 " %255s", &from, word), 2);
    while (strcmp(word, "end")) {
        line = (uint32_t)strtoul(word, NULL, 10);
        assert_int_equal(fscanf(file, "%" SCNu32 " %255s", &to, word), 2);
        for (uint32_t at = from; at < to; at += UNIT_BYTES, asked++)
            if (code_line(code, at) != line)
                fail_msg("%s: %s at %" PRIu32 ": %" PRIu32 ", and the interpreter says %" PRIu32,
                         path, name, at, code_line(code, at), line);
        from = to;
    }
    return asked;
}

static enum feed_code_lines lines_of_version(int minor)
{
    return minor < 10    ? FEED_LINES_CPYTHON_39
           : minor == 10 ? FEED_LINES_CPYTHON_310
                         : FEED_LINES_CPYTHON_311;
}

static void check_file(const char *path)
{
    CLEANUP(close_file) FILE *file = fopen(path, "r");
    uint32_t first_line, asked = 0;
    char name[WORD_MAX + 1];
    int minor;

    assert_non_null(file);
    assert_int_equal(fscanf(file, "python 3.%d.%*d", &minor), 1);
    for (;;) {
        CLEANUP(free_text) char *hex = NULL;
        struct feed_code_text code = { .lines = lines_of_version(minor) };
        uint8_t *table;

        if (fscanf(file, " code %255s %" SCNu32 " %ms", name, &first_line, &hex) != 3)
            break;
        table = malloc(strlen(hex) + 1);
        assert_non_null(table);
        code.table = table;
        code.table_bytes = bytes_of(hex, table);
        code.first_line = first_line;
        asked += check_code(file, path, name, &code);
        free(table);
    }
    assert_true(feof(file));
    assert_true(asked > 0);
}

static void tables_of_cpython_say_what_the_interpreter_says(void **state)
{
    static const char *const recorded[] = {
        LINE_TABLES "/python3.9.lines",  LINE_TABLES "/python3.10.lines",
        LINE_TABLES "/python3.11.lines", LINE_TABLES "/python3.12.lines",
        LINE_TABLES "/python3.13.lines",
    };

    (void)state;
    for (char **file = files; *file; file++)
        check_file(*file);
    for (size_t i = 0; !*files && i < sizeof(recorded) / sizeof(recorded[0]); i++)
        check_file(recorded[i]);
}

static void a_position_behind_the_code_has_no_line(void **state)
{
    static const uint8_t ranges[] = { 4, 1 }, locations[] = { 0xe9, 2 };

    (void)state;
    assert_int_equal(line_of(FEED_LINES_CPYTHON_310, 5, ranges, sizeof(ranges), 3), 6);
    assert_int_equal(line_of(FEED_LINES_CPYTHON_310, 5, ranges, sizeof(ranges), 4), 0);
    assert_int_equal(line_of(FEED_LINES_CPYTHON_311, 5, locations, sizeof(locations), 3), 6);
    assert_int_equal(line_of(FEED_LINES_CPYTHON_311, 5, locations, sizeof(locations), 4), 0);
}

static void a_position_that_is_not_known_has_the_definitions_line_in_python(void **state)
{
    (void)state;
    for (int lines = 0; lines < FEED_LINES_COUNT; lines++)
        assert_int_equal(line_of((enum feed_code_lines)lines, 5, "", 0, FEED_NO_POSITION),
                         lines >= FEED_LINES_CPYTHON_39 && lines <= FEED_LINES_CPYTHON_311 ? 5 : 0);
}

static void lines_that_cannot_be_are_none(void **state)
{
    static const uint8_t back[] = { 8, 0x90 /* 112 lines back */ };

    (void)state;
    assert_int_equal(line_of(FEED_LINES_CPYTHON_310, 5, back, sizeof(back), 0), 0);
    assert_int_equal(line_of(FEED_LINES_CPYTHON_310, 113, back, sizeof(back), 0), 1);
    assert_int_equal(line_of(FEED_LINES_CPYTHON_39, UINT32_MAX, "", 0, 0), 0);
}

static void a_position_is_its_own_line_where_there_is_no_table(void **state)
{
    (void)state;
    assert_int_equal(line_of(FEED_LINES_DIRECT, 1, NULL, 0, 77), 77);
    assert_int_equal(line_of(FEED_LINES_DIRECT, 1, NULL, 0, 0), 0);
    assert_int_equal(line_of(FEED_LINES_V8_CHARACTER, 1, NULL, 0, 78), 78);
}

static void the_last_pair_that_is_not_behind_it_has_the_line(void **state)
{
    static const uint32_t pairs[][2] = { { 4, 10 }, { 8, 11 }, { 20, 9 } };

    (void)state;
    assert_int_equal(line_of(FEED_LINES_PAIRS, 1, pairs, sizeof(pairs), 3), 0);
    assert_int_equal(line_of(FEED_LINES_PAIRS, 1, pairs, sizeof(pairs), 4), 10);
    assert_int_equal(line_of(FEED_LINES_PAIRS, 1, pairs, sizeof(pairs), 19), 11);
    assert_int_equal(line_of(FEED_LINES_PAIRS, 1, pairs, sizeof(pairs), 20), 9);
    assert_int_equal(line_of(FEED_LINES_PAIRS, 1, pairs, sizeof(pairs), 9999), 9);
    assert_int_equal(line_of(FEED_LINES_PAIRS, 1, pairs, sizeof(pairs) - 1, 9999), 11);
}

/* (0, line 100) as numbers, (5, 103) in one byte, (45, 101) as numbers, the end; then what is no more of it. */
static void a_table_of_java_has_small_steps_in_a_byte(void **state)
{
    static const uint8_t up_to_19[] = { 0xff, 0, 0xc8, 0, 5 << 3 | 3, 0xff, 80, 3, 0, 1 << 3 | 1 },
                         from_20[] = { 0xff, 1, 0xc9, 1, 5 << 3 | 3, 0xff, 81, 4, 0, 1 << 3 | 1 };

    (void)state;
    for (int i = 0; i < 2; i++) {
        enum feed_code_lines lines = i ? FEED_LINES_JVM_20 : FEED_LINES_JVM;
        const uint8_t *table = i ? from_20 : up_to_19;

        assert_int_equal(line_of(lines, 1, table, sizeof(from_20), 0), 100);
        assert_int_equal(line_of(lines, 1, table, sizeof(from_20), 4), 100);
        assert_int_equal(line_of(lines, 1, table, sizeof(from_20), 5), 103);
        assert_int_equal(line_of(lines, 1, table, sizeof(from_20), 44), 103);
        assert_int_equal(line_of(lines, 1, table, sizeof(from_20), 46), 101);
    }
}

/* (0, place 60) a statement, (3, place 70) an expression, (203, place 10) a statement: twice their differences,
 * and of an expression the offset's difference is -1 - it. Places are stored with 1 more, and a bit below. */
static void a_table_of_v8_has_places_of_statements_and_expressions(void **state)
{
    static const uint8_t table[] = { 2,    0xf4, 0x01, /* 1, 122: a function's entry is at -1 */
                                     7,    40,         /* -4, 20 */
                                     0x90, 0x03, 0xef, 0x01 /* 200, -120 */ };

    (void)state;
    assert_int_equal(line_of(FEED_LINES_V8, 1, table, sizeof(table), 0), 61);
    assert_int_equal(line_of(FEED_LINES_V8, 1, table, sizeof(table), 2), 61);
    assert_int_equal(line_of(FEED_LINES_V8, 1, table, sizeof(table), 3), 71);
    assert_int_equal(line_of(FEED_LINES_V8, 1, table, sizeof(table), 202), 71);
    assert_int_equal(line_of(FEED_LINES_V8, 1, table, sizeof(table), 203), 11);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_of_cpython_say_what_the_interpreter_says),
        cmocka_unit_test(a_position_behind_the_code_has_no_line),
        cmocka_unit_test(a_position_that_is_not_known_has_the_definitions_line_in_python),
        cmocka_unit_test(lines_that_cannot_be_are_none),
        cmocka_unit_test(a_position_is_its_own_line_where_there_is_no_table),
        cmocka_unit_test(the_last_pair_that_is_not_behind_it_has_the_line),
        cmocka_unit_test(a_table_of_java_has_small_steps_in_a_byte),
        cmocka_unit_test(a_table_of_v8_has_places_of_statements_and_expressions),
    };

    files = argv + (argc > 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
