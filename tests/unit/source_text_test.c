/* Source text comes from below one folder, whatever the path says. */
#include "sampler/profile/facts/source_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* outside.c beside the root; in it src/a.c and what should not be read. */
static char folder[64], root[96];

static void write_file(const char *base, const char *name, const char *text)
{
    char path[160];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", base, name);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void in_root(const char *name, char path[160])
{
    snprintf(path, 160, "%s/%s", root, name);
}

static int make_folder(void **state)
{
    char path[160], target[160];

    (void)state;
    strcpy(folder, "/tmp/isoscope-source-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(root, sizeof(root), "%s/root", folder);
    mkdir(root, 0700);
    in_root("src", path);
    mkdir(path, 0700);
    write_file(root, "src/a.c", "int a;\n");
    write_file(root, "empty.c", "");
    write_file(folder, "outside.c", "secret");
    in_root("fifo", path);
    mkfifo(path, 0600);
    in_root("inside_link.c", path);
    assert_int_equal(symlink("src/a.c", path), 0);
    in_root("outside_link.c", path);
    assert_int_equal(symlink("../outside.c", path), 0);
    in_root("absolute_link.c", path);
    snprintf(target, sizeof(target), "%s/outside.c", folder);
    assert_int_equal(symlink(target, path), 0);
    in_root("large.c", path);
    write_file(root, "large.c", "");
    return truncate(path, SOURCE_TEXT_BYTES_MAX + 1);
}

static int remove_folder(void **state)
{
    static const char *const names[] = { "root/src/a.c",
                                         "root/src",
                                         "root/empty.c",
                                         "root/fifo",
                                         "root/inside_link.c",
                                         "root/outside_link.c",
                                         "root/absolute_link.c",
                                         "root/large.c",
                                         "root",
                                         "outside.c" };
    char path[160];

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        remove(path);
    }
    return rmdir(folder);
}

static void assert_text(const char *file, const char *expected)
{
    size_t length = 0;
    char *text = source_text_read(root, file, &length);

    if (!expected) {
        assert_null(text);
        return;
    }
    assert_non_null(text);
    assert_int_equal(length, strlen(expected));
    assert_string_equal(text, expected);
    free(text);
}

static void files_below_the_root_are_read(void **state)
{
    char path[160];

    (void)state;
    in_root("src/a.c", path);
    assert_text(path, "int a;\n");
    in_root("src/../src/a.c", path);
    assert_text(path, "int a;\n");
    assert_text("src/a.c", "int a;\n");
    assert_text("./src/a.c", "int a;\n");
    assert_text("inside_link.c", "int a;\n");
    assert_text("empty.c", "");
}

static void nothing_else_is(void **state)
{
    static const char *const files[] = {
        "../outside.c",
        "src/../../outside.c",
        "outside_link.c",
        "absolute_link.c",
        "/etc/passwd",
        "nowhere.c",
        "src",
        "fifo",
        "large.c",
        "",
    };
    char path[160];

    (void)state;
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
        assert_text(files[i], NULL);
    in_root("../outside.c", path);
    assert_text(path, NULL);
    /* A folder whose name begins like the root's. */
    snprintf(path, sizeof(path), "%sed/a.c", root);
    assert_text(path, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_below_the_root_are_read),
        cmocka_unit_test(nothing_else_is),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
