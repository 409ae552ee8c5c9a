#include "sampler/profile/naming/codes.h"

#include "sampler/feed/cleanup.h"
#include "sampler/profile/naming/code_chain.h"
#include "sampler/profile/naming/script_places.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct parts {
    struct codes *codes;
    struct functions *functions;
    struct registry *registry;
};

static int open_parts(void **state)
{
    static struct parts parts;

    *state = &parts;
    return codes_new(&parts.codes) < 0 || functions_new(&parts.functions) < 0 ||
           registry_new(&parts.registry) < 0;
}

static int close_parts(void **state)
{
    struct parts *parts = *state;

    codes_free(parts->codes);
    functions_free(parts->functions);
    registry_free(parts->registry);
    return 0;
}

static struct feed_code_text code_of(const char *name, const char *file, uint32_t first_line)
{
    return (struct feed_code_text){ .runtime = FEED_RUNTIME_CPYTHON,
                                    .lines = FEED_LINES_DIRECT,
                                    .name = name,
                                    .file = file,
                                    .table = (const uint8_t *)"",
                                    .name_bytes = (uint32_t)strlen(name),
                                    .file_bytes = (uint32_t)strlen(file),
                                    .first_line = first_line };
}

static void what_says_the_same_is_one_code(void **state)
{
    struct parts *parts = *state;
    struct feed_code_text code = code_of("Shape.area", "/app.py", 7), found;
    uint32_t number = codes_number(parts->codes, &code);

    assert_int_not_equal(number, 0);
    assert_int_equal(codes_number(parts->codes, &code), number);
    assert_true(codes_get(parts->codes, number, &found));
    assert_string_equal(found.name, "Shape.area");
    assert_string_equal(found.file, "/app.py");
    assert_int_equal(found.first_line, 7);
}

static void what_differs_in_anything_is_another_code(void **state)
{
    struct parts *parts = *state;
    struct feed_code_text all[] = {
        code_of("f", "/a.py", 1), code_of("g", "/a.py", 1), code_of("f", "/b.py", 1),
        code_of("f", "/a.py", 2), code_of("f", "/a.py", 1), code_of("f", "/a.py", 1),
        code_of("f/", "a.py", 1), code_of("f", "/a.py", 1),
    };
    enum { COUNT = sizeof(all) / sizeof(all[0]) };
    uint32_t numbers[COUNT];

    all[4].runtime = FEED_RUNTIME_RUBY;
    all[5].lines = FEED_LINES_PAIRS;
    all[7].table = (const uint8_t *)"t";
    all[7].table_bytes = 1;
    for (int i = 0; i < COUNT; i++) {
        numbers[i] = codes_number(parts->codes, &all[i]);
        for (int k = 0; k < i; k++)
            assert_int_not_equal(numbers[i], numbers[k]);
    }
}

/* A 0 would end the name for whoever shows it. */
static void a_zero_inside_of_a_text_is_shown_as_a_mark(void **state)
{
    struct parts *parts = *state;
    struct feed_code_text code = code_of("abc", "/a.py", 1), found;

    code.name = "a\0c";
    assert_true(codes_get(parts->codes, codes_number(parts->codes, &code), &found));
    assert_string_equal(found.name, "a?c");
    assert_int_equal(codes_number(parts->codes, &code), 1);
}

static void a_number_that_was_never_given_is_no_code(void **state)
{
    struct parts *parts = *state;
    struct feed_code_text found;

    assert_false(codes_get(parts->codes, 0, &found));
    assert_false(codes_get(parts->codes, 1, &found));
    assert_false(codes_get(parts->codes, UINT32_MAX, &found));
}

/* Returns the function's number. */
static uint32_t resolve(struct parts *parts, const struct feed_code_text *code, uint32_t position,
                        struct chain_frame *out)
{
    uint32_t module = registry_script(parts->registry, code->runtime, code->file);

    assert_true(code_chain(parts->codes, parts->functions, registry_module(parts->registry, module),
                           CODE_OFFSET(codes_number(parts->codes, code), position), out));
    return out->function;
}

static void a_frame_is_a_function_with_its_line(void **state)
{
    struct parts *parts = *state;
    const struct feed_code_text code = code_of("Shape.area", "/app.py", 7);
    struct chain_frame frame;
    struct function function;

    functions_get(parts->functions, resolve(parts, &code, 9, &frame), &function);
    assert_int_equal(frame.line, 9);
    assert_string_equal(function.name, "Shape.area");
    assert_string_equal(function.file, "/app.py");
    assert_int_equal(function.line, 7);
    resolve(parts, &code, FEED_NO_POSITION, &frame);
    assert_int_equal(frame.line, 0);
}

/* An edit and a reload in between give another line table; so does a code object of each call. */
static void codes_of_one_place_are_one_function(void **state)
{
    struct parts *parts = *state;
    struct feed_code_text first = code_of("f", "/a.py", 1), second = first, other = first;
    struct chain_frame frame;
    uint32_t number = resolve(parts, &first, 1, &frame);

    second.table = (const uint8_t *)"table";
    second.table_bytes = 5;
    assert_int_equal(resolve(parts, &second, 2, &frame), number);
    other.first_line = 2;
    assert_int_not_equal(resolve(parts, &other, 2, &frame), number);
}

static void a_file_of_scripts_is_no_library_of_that_path(void **state)
{
    struct parts *parts = *state;
    static const uint8_t none[1];
    uint32_t script = registry_script(parts->registry, FEED_RUNTIME_CPYTHON, "/a/b.py");
    uint32_t library = registry_number(parts->registry, "/a/b.py", none, 0);

    assert_int_not_equal(script, library);
    assert_int_equal(registry_script(parts->registry, FEED_RUNTIME_CPYTHON, "/a/b.py"), script);
    assert_true(registry_module(parts->registry, script)->script);
    assert_string_equal(registry_module(parts->registry, script)->name, "b.py");
    assert_false(registry_module(parts->registry, library)->script);
}

/* Who installed it tells its place. */
static void packages_and_the_runtimes_own_are_not_the_users(void **state)
{
    static const struct {
        enum feed_runtime_kind runtime;
        const char *path, *package;
        bool system;
    } cases[] = {
        { FEED_RUNTIME_CPYTHON, "/home/u/app.py", NULL, false },
        { FEED_RUNTIME_CPYTHON, "<string>", NULL, false },
        { FEED_RUNTIME_CPYTHON, "<frozen importlib._bootstrap>", NULL, true },
        { FEED_RUNTIME_CPYTHON, "/usr/lib/python3.11/json/decoder.py", "python3.11/json/decoder.py",
          true },
        { FEED_RUNTIME_CPYTHON, "/usr/lib/python3/dist-packages/yaml/x.py", "yaml/x.py", true },
        { FEED_RUNTIME_CPYTHON, "/v/lib/python3.12/site-packages/flask/app.py", "flask/app.py",
          true },
        { FEED_RUNTIME_CPYTHON, "/srv/lib/pythonic/app.py", NULL, false },
        { FEED_RUNTIME_V8, "/w/node_modules/a/node_modules/b/i.js", "b/i.js", true },
        { FEED_RUNTIME_V8, "node:internal/modules/cjs/loader", NULL, true },
        { FEED_RUNTIME_V8, "/w/server.js", NULL, false },
        { FEED_RUNTIME_RUBY, "/var/lib/gems/3.1.0/gems/rack-2.2.4/lib/rack.rb",
          "rack-2.2.4/lib/rack.rb", true },
        { FEED_RUNTIME_RUBY, "<internal:kernel>", NULL, true },
        { FEED_RUNTIME_OTHER, "/x/site-packages/y", NULL, false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *package = script_package(cases[i].runtime, cases[i].path);

        assert_int_equal(script_is_system(cases[i].runtime, cases[i].path), cases[i].system);
        if (cases[i].package)
            assert_string_equal(package, cases[i].package);
        else
            assert_null(package);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_parts, close_parts)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_says_the_same_is_one_code),
        TEST(what_differs_in_anything_is_another_code),
        TEST(a_zero_inside_of_a_text_is_shown_as_a_mark),
        TEST(a_number_that_was_never_given_is_no_code),
        TEST(a_frame_is_a_function_with_its_line),
        TEST(codes_of_one_place_are_one_function),
        TEST(a_file_of_scripts_is_no_library_of_that_path),
        TEST(packages_and_the_runtimes_own_are_not_the_users),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
