#include "sampler/capture/maps.h"

#include "sampler/capture/modules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
/* cmocka wants the headers above first */
#include <cmocka.h>

static bool parse(const char *text, struct maps_line *out)
{
    static char line[256];

    strncpy(line, text, sizeof line - 1);
    return maps_parse(line, out);
}

static void a_line_is_taken_apart(void **state)
{
    struct maps_line line;

    (void)state;
    assert_true(
        parse("7f01c2a00000-7f01c2a28000 r-xp 00001000 fe:01 1312      /usr/lib/a b.so", &line));
    assert_int_equal(line.start, 0x7f01c2a00000);
    assert_int_equal(line.end, 0x7f01c2a28000);
    assert_int_equal(line.offset, 0x1000);
    assert_int_equal(line.dev_major, 0xfe);
    assert_int_equal(line.dev_minor, 1);
    assert_int_equal(line.inode, 1312);
    assert_true(line.readable);
    assert_true(line.executable);
    assert_string_equal(line.path, "/usr/lib/a b.so");
}

static void a_mapping_without_a_file_has_an_empty_path(void **state)
{
    struct maps_line line;

    (void)state;
    assert_true(parse("00400000-00401000 ---p 00000000 00:00 0 ", &line));
    assert_string_equal(line.path, "");
    assert_false(line.readable);
    assert_false(line.executable);
}

static void other_text_is_refused(void **state)
{
    struct maps_line line;

    (void)state;
    assert_false(parse("", &line));
    assert_false(parse("00400000", &line));
    assert_false(parse("00400000-00401000 r-xp", &line));
    assert_false(parse("Size:                132 kB", &line));
}

static void the_mapping_around_an_address_is_found(void **state)
{
    uint64_t start, end, here = (uint64_t)&start;

    (void)state;
    assert_true(modules_find_mapping(here, &start, &end));
    assert_true(start <= here && here < end);
    assert_false(modules_find_mapping(0x10, &start, &end));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_taken_apart),
        cmocka_unit_test(a_mapping_without_a_file_has_an_empty_path),
        cmocka_unit_test(other_text_is_refused),
        cmocka_unit_test(the_mapping_around_an_address_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
