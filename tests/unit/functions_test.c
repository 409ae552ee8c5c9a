/* What makes two places in the code one function. */
#include "sampler/profile/naming/functions.h"

#include "sampler/feed/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct functions *functions;

static int open_functions(void **state)
{
    (void)state;
    return functions_new(&functions);
}

static int close_functions(void **state)
{
    (void)state;
    functions_free(functions);
    return 0;
}

static struct function_source symbol(uint64_t start, const char *name)
{
    return (struct function_source){
        .module = 3, .start = start, .name = name, .full_name = name, .raw_name = name
    };
}

static struct function_source inlined(const char *name, const char *file, uint32_t line)
{
    return (struct function_source){
        .module = 3, .start = FUNCTION_NO_START, .source_name = name, .file = file, .line = line
    };
}

static struct function get(struct function_source source)
{
    struct function function;
    uint32_t number = functions_number(functions, &source);

    assert_int_not_equal(number, 0);
    functions_get(functions, number, &function);
    return function;
}

static void a_symbol_is_one_function_with_the_id_of_its_start(void **state)
{
    struct function first = get(symbol(0x1000, "f"));

    (void)state;
    assert_string_equal(first.id, "functions/3/1000");
    assert_string_equal(first.name, "f");
    assert_null(first.file);
    assert_int_equal(get(symbol(0x1000, "f")).number, first.number);
    assert_int_not_equal(get(symbol(0x2000, "f")).number, first.number);
}

/* Whichever is met first. */
static void an_inlined_instance_and_the_copy_out_of_line_are_one(void **state)
{
    struct function_source both = symbol(0x1000, "f"), other = symbol(0x2000, "g");
    struct function first = get(inlined("f", "/src/a.c", 7)), copy;

    (void)state;
    assert_string_equal(first.id, "functions/3/i1");
    both.source_name = "f";
    both.file = "/src/a.c";
    both.line = 7;
    copy = get(both);
    assert_int_equal(copy.number, first.number);
    assert_int_equal(copy.start, 0x1000);
    other.source_name = "g";
    other.file = "/src/a.c";
    other.line = 9;
    assert_int_equal(get(other).number, get(inlined("g", "/src/a.c", 9)).number);
}

/* Symbols were read before lines: the two records become one, and both ids stay good. */
static void what_turns_out_to_be_one_function_becomes_one(void **state)
{
    struct function_source both = symbol(0x1000, "f");
    struct function of_symbol = get(symbol(0x1000, "f")), of_line = get(inlined("f", "/a.c", 7));
    struct function found, again;

    (void)state;
    assert_int_not_equal(of_symbol.number, of_line.number);
    both.source_name = "f";
    both.file = "/a.c";
    both.line = 7;
    get(both);
    functions_get(functions, of_symbol.number, &found);
    functions_get(functions, of_line.number, &again);
    assert_int_equal(found.number, again.number);
    assert_true(functions_find(functions, of_symbol.id, &found));
    assert_true(functions_find(functions, of_line.id, &again));
    assert_int_equal(found.number, again.number);
}

static void static_functions_of_one_name_are_different(void **state)
{
    struct function a = get(inlined("init", "/src/a.c", 7));

    (void)state;
    assert_int_not_equal(get(inlined("init", "/src/b.c", 7)).number, a.number);
    assert_int_not_equal(get(inlined("init", "/src/a.c", 8)).number, a.number);
    assert_int_equal(get(inlined("init", "/src/a.c", 7)).number, a.number);
}

/* A header has one path in one unit and another path in the next. */
static void a_mangled_name_is_one_function_wherever_its_header_lies(void **state)
{
    struct function_source source = inlined("_Z1fi", "/src/a.h", 7), other = source;
    struct function function;

    (void)state;
    source.mangled = other.mangled = true;
    other.file = "/src/../src/a.h";
    function = get(source);
    assert_string_equal(function.full_name, "f(int)");
    assert_string_equal(function.name, "f");
    assert_string_equal(function.raw_name, "_Z1fi");
    assert_int_equal(get(other).number, function.number);
}

static struct function_source lambda(const char *scope)
{
    struct function_source source = inlined("operator()", "/a.cc", 7);

    source.scope = scope;
    return source;
}

static struct function_source lambda_symbol(uint64_t start, const char *raw_name, const char *name)
{
    struct function_source source = lambda("fill::{lambda(int)}");

    source.start = start;
    source.raw_name = raw_name;
    source.name = name;
    source.full_name = NULL;
    return source;
}

/* Inlined first: its name is made of the source. The symbol says which lambda it is. */
static void a_symbol_names_what_the_source_had_to_name(void **state)
{
    struct function first = get(lambda("fill::{lambda(int)}")), copy;

    (void)state;
    assert_string_equal(first.name, "fill::{lambda(int)}::operator()");
    copy = get(lambda_symbol(0x1000, "_ZZ4fillENKUliE_clEi", "fill::{lambda(int)#1}::operator()"));
    assert_int_equal(copy.number, first.number);
    assert_string_equal(copy.name, "fill::{lambda(int)#1}::operator()");
    assert_int_equal(get(lambda("fill::{lambda(int)}")).number, first.number);
}

static void lambdas_of_one_place_are_told_apart(void **state)
{
    struct function first, second;

    (void)state;
    first = get(lambda_symbol(0x1000, "_ZZ4fillENKUliE_clEi", "fill::{lambda(int)#1}::operator()"));
    second =
        get(lambda_symbol(0x2000, "_ZZ4fillENKUliE0_clEi", "fill::{lambda(int)#2}::operator()"));
    assert_int_not_equal(first.number, second.number);
    assert_string_equal(second.name, "fill::{lambda(int)#2}::operator()");
    assert_int_not_equal(get(lambda("add<int>::{lambda(int)}")).number,
                         get(lambda("add<long>::{lambda(int)}")).number);
}

/* f.isra.0 has f's code in the source and is not f: what is inlined as f is not counted for it. */
static void one_start_with_two_keys_stays_one_function(void **state)
{
    struct function_source first = symbol(0x1000, "f"), second = first;
    struct function_file file;

    (void)state;
    first.source_name = "f";
    first.file = second.file = "/a.c";
    first.line = 1;
    second.source_name = "g";
    second.line = 5;
    for (int i = 0; i < 100; i++) {
        assert_int_equal(get(first).number, 1);
        assert_int_equal(get(second).number, 1);
    }
    assert_int_equal(functions_files(functions, 0, &file, 1), 1);
    assert_int_equal(file.functions, 1);
}

/* However many functions there are: a list of scripts does not go through them. */
static void each_file_is_told_once_with_how_many_are_in_it(void **state)
{
    struct function_source known = symbol(0x1000, "f"), one = symbol(0x5000, "k");
    struct function_file files[4];

    (void)state;
    get(known); /* without its file, at first */
    get(inlined("g", "/src/a.c", 7));
    get(inlined("h", "/src/b.c", 8));
    assert_int_equal(functions_files(functions, 0, files, 4), 3);
    assert_null(files[0].text);
    assert_int_equal(files[0].functions, 1);
    known.file = "/src/a.c";
    get(known);
    assert_int_equal(functions_files(functions, 0, files, 4), 3);
    assert_int_equal(files[0].functions, 0);
    assert_string_equal(files[1].text, "/src/a.c");
    assert_int_equal(files[1].functions, 2);
    assert_int_equal(functions_files(functions, 2, files, 4), 1);
    assert_string_equal(files[0].text, "/src/b.c");
    assert_int_equal(functions_files(functions, 3, files, 4), 0);
    /* Two records that turn out to be one function count once. */
    get(one);
    one.source_name = "h";
    one.file = "/src/b.c";
    one.line = 8;
    get(one);
    assert_int_equal(functions_files(functions, 0, files, 4), 3);
    assert_int_equal(files[0].functions, 0);
    assert_int_equal(files[2].functions, 1);
}

static void ids_that_were_not_given_are_not_found(void **state)
{
    static const char *const ids[] = { "",
                                       "functions",
                                       "functions/3",
                                       "functions/3/1001",
                                       "functions/4/1000",
                                       "functions/3/1000/",
                                       "functions/3/01000",
                                       "functions/3/i1",
                                       "functions/3/i9",
                                       "functions/3/i0" };
    struct function found;

    (void)state;
    get(symbol(0x1000, "f"));
    for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++)
        assert_false(functions_find(functions, ids[i], &found));
    assert_true(functions_find(functions, "functions/3/1000", &found));
}

int main(void)
{
#define FUNCTIONS_TEST(test) cmocka_unit_test_setup_teardown(test, open_functions, close_functions)
    const struct CMUnitTest tests[] = {
        FUNCTIONS_TEST(a_symbol_is_one_function_with_the_id_of_its_start),
        FUNCTIONS_TEST(an_inlined_instance_and_the_copy_out_of_line_are_one),
        FUNCTIONS_TEST(what_turns_out_to_be_one_function_becomes_one),
        FUNCTIONS_TEST(static_functions_of_one_name_are_different),
        FUNCTIONS_TEST(a_mangled_name_is_one_function_wherever_its_header_lies),
        FUNCTIONS_TEST(a_symbol_names_what_the_source_had_to_name),
        FUNCTIONS_TEST(lambdas_of_one_place_are_told_apart),
        FUNCTIONS_TEST(one_start_with_two_keys_stays_one_function),
        FUNCTIONS_TEST(each_file_is_told_once_with_how_many_are_in_it),
        FUNCTIONS_TEST(ids_that_were_not_given_are_not_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
