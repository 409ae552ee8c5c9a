/* A command's options, of which there is one row each. */
#include "server/console/option_table.h"
#include "server/console/status.h"

#include "sampler/include/isoscope/isoscope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct options {
    bool loud, awake, help;
    uint32_t depth;
    size_t bytes;
    unsigned colour;
    const char *shape;
    char first;
    struct more {
        char unused;
        bool near;
    } more; /* whose rows other commands have too */
};

static int take_first(void *field, const char *text, char *error, size_t error_size)
{
    if (!*text) {
        snprintf(error, error_size, "'' has no first letter");
        return -ISOSCOPE_INVALID;
    }
    *(char *)field = *text;
    return 0;
}

static const char *const colours[] = { "red", "green", NULL };
static const char *const shapes[] = { "round", "square", NULL };

#define AT(field) .offset = offsetof(struct options, field)

static const struct option_row rows[] = {
    { "loud", 'l', OPTION_ON, AT(loud), .help = "much {of} it", .group = "Sound" },
    { "asleep", .kind = OPTION_OFF, AT(awake), .help = "not awake" },
    { "depth", 'd', OPTION_UINT32, AT(depth), .least = 2, .most = 9, .initial = 5, .value = "N",
      .means = "a depth", .help = "how deep, {range} (default: {default})", .group = "Looks" },
    { "room", .kind = OPTION_MIB, AT(bytes), .least = 1, .most = 4, .initial = 3, .value = "MIB",
      .means = "a number of MiB",
      .help = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen" },
    { "colour", .kind = OPTION_CHOICE, AT(colour), .words = colours, .help = "of it" },
    { "shape-of-the-whole-thing", .kind = OPTION_WORD, AT(shape), .words = shapes,
      .help = "of all" },
    { "first", .kind = OPTION_TAKEN, AT(first), .take = take_first, .value = "TEXT",
      .help = "its letter" },
    { "help", 'h', OPTION_HELP, AT(help), .help = "this" },
};
static const struct option_row more_rows[] = {
    { "near", 'n', OPTION_ON, .offset = offsetof(struct more, near), .help = "and so on" },
};
static const struct option_rows first_rows = { rows, sizeof(rows) / sizeof(*rows) };
static const struct option_rows last_rows = { more_rows, 1 };
static const struct option_part parts[] = {
    { &first_rows, 0 },
    { &last_rows, offsetof(struct options, more) },
};
static const struct option_table table = { "a test", parts, 2, false };
static const struct option_table anywhere = { "a test", parts, 2, true };

static char error[256];

static int parse(struct options *out, char **argv)
{
    int argc = 0;

    while (argv[argc])
        argc++;
    *out = (struct options){ 0 };
    error[0] = '\0';
    return option_table_parse(&table, out, argc, argv, error, sizeof(error));
}

#define PARSE(out, ...) parse((out), (char *[]){ "test", __VA_ARGS__, NULL })

static void what_is_not_given_is_as_its_row_says(void **state)
{
    struct options options;

    (void)state;
    assert_int_equal(PARSE(&options, "word"), 1);
    assert_true(options.awake && !options.loud && !options.help);
    assert_int_equal(options.depth, 5);
    assert_int_equal(options.bytes, 3 << 20);
    assert_int_equal(options.colour, 0);
    assert_string_equal(options.shape, "round");
}

static void what_is_given_is_taken_in_any_spelling(void **state)
{
    struct options options;

    (void)state;
    assert_int_equal(PARSE(&options, "-l", "-d", "9", "--room=4", "--col", "green", "--asleep",
                           "--shape-of-the-whole-thing", "square", "--first", "xyz", "--", "-l"),
                     13);
    assert_true(options.loud && !options.awake);
    assert_int_equal(options.depth, 9);
    assert_int_equal(options.bytes, 4 << 20);
    assert_int_equal(options.colour, 1);
    assert_string_equal(options.shape, "square");
    assert_int_equal(options.first, 'x');
}

static void rows_of_another_struct_are_set_there(void **state)
{
    struct options options;

    (void)state;
    assert_int_equal(PARSE(&options, "word", "--near"), 1);
    assert_false(options.more.near);
    assert_int_equal(PARSE(&options, "-n", "word"), 2);
    assert_true(options.more.near);
}

static void options_may_stand_anywhere_where_the_command_says_so(void **state)
{
    char *words[] = { "test", "one", "--near", "two", "-d", "3", "three", NULL };
    struct options options = { 0 };

    (void)state;
    assert_int_equal(option_table_parse(&anywhere, &options, 7, words, error, sizeof(error)), 4);
    assert_true(options.more.near && options.depth == 3);
    assert_string_equal(words[4], "one");
    assert_string_equal(words[6], "three");
}

static void nothing_behind_help_is_read(void **state)
{
    struct options options;

    (void)state;
    assert_int_equal(PARSE(&options, "-h", "--nonsense"), 2);
    assert_true(options.help);
}

static void what_is_wrong_is_said_with_the_options_name(void **state)
{
    static char *const wrong[][4] = {
        { "--depth=1", "--depth: '1' is not a depth from 2 to 9" },
        { "--colour=blue", "--colour: 'blue' is not red or green" },
        { "--first=", "--first: '' has no first letter" },
        { "--loud=yes", "--loud takes no value" },
        { "--room", "--room wants a value" },
        { "-z", "-z is not an option of a test" },
        { "--dept1", "--dept1 is not an option of a test; did you mean --depth?" },
    };
    struct options options;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        assert_int_equal(PARSE(&options, wrong[i][0]), -ISOSCOPE_INVALID);
        assert_string_equal(error, wrong[i][1]);
    }
}

static void help_says_each_row_under_its_group(void **state)
{
    static const char said[] = "Sound:\n"
                               "  -l, --loud                 much {of} it\n"
                               "  --asleep                   not awake\n"
                               "\n"
                               "Looks:\n"
                               "  -d, --depth N              how deep, 2 to 9 (default: 5)\n"
                               "  --room MIB                 one two three four five six seven "
                               "eight nine ten eleven twelve\n"
                               "                             thirteen fourteen\n"
                               "  --colour red|green         of it\n"
                               "  --shape-of-the-whole-thing round|square\n"
                               "                             of all\n"
                               "  --first TEXT               its letter\n"
                               "  -h, --help                 this\n"
                               "  -n, --near                 and so on\n";
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    (void)state;
    option_table_help(&table, out);
    fclose(out);
    assert_string_equal(text, said);
    free(text);
}

static int begin(int *status, char *word)
{
    struct options options = { 0 };

    return option_table_begin(&table, "", &options, 2, (char *[]){ "test", word, NULL }, status);
}

static void a_command_begins_with_its_words_or_ends_with_a_status(void **state)
{
    int status = -1;

    (void)state;
    assert_int_equal(begin(&status, "word"), 1);
    assert_int_equal(status, -1);
    assert_int_equal(begin(&status, "--help"), -1);
    assert_int_equal(status, STATUS_OK);
    assert_int_equal(begin(&status, "--nonsense"), -1);
    assert_int_equal(status, STATUS_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_given_is_as_its_row_says),
        cmocka_unit_test(what_is_given_is_taken_in_any_spelling),
        cmocka_unit_test(rows_of_another_struct_are_set_there),
        cmocka_unit_test(options_may_stand_anywhere_where_the_command_says_so),
        cmocka_unit_test(nothing_behind_help_is_read),
        cmocka_unit_test(what_is_wrong_is_said_with_the_options_name),
        cmocka_unit_test(help_says_each_row_under_its_group),
        cmocka_unit_test(a_command_begins_with_its_words_or_ends_with_a_status),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
