/* The private folder of a run, and the file that tells where it serves. */
#include "server/run_dir.h"
#include "server/service_info.h"

#include "sampler/feed/cleanup.h"
#include "sampler/include/isoscope/isoscope.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void the_folder_is_private_and_goes_away(void **state)
{
    struct run_dir *dir = NULL;
    struct stat file;
    char folder[PATH_MAX];

    (void)state;
    assert_int_equal(run_dir_new(&dir), 0);
    snprintf(folder, sizeof(folder), "%s", run_dir_socket(dir));
    *strrchr(folder, '/') = '\0';
    assert_int_equal(stat(folder, &file), 0);
    assert_int_equal(file.st_mode & 07777, 0700);
    run_dir_free(dir);
    assert_int_equal(stat(folder, &file), -1);
}

static void a_plain_path_is_preloaded_as_it_is(void **state)
{
    CLEANUP(run_dir_freep) struct run_dir *dir = NULL;
    const char *library = NULL;

    (void)state;
    assert_int_equal(run_dir_new(&dir), 0);
    assert_int_equal(run_dir_library(dir, "/usr/lib/libisoscope.so", &library), 0);
    assert_string_equal(library, "/usr/lib/libisoscope.so");
}

/* The loader splits LD_PRELOAD at spaces and colons and knows no quotes. */
static void a_path_with_a_space_gets_another_name(void **state)
{
    CLEANUP(run_dir_freep) struct run_dir *dir = NULL;
    char target[PATH_MAX] = "";
    const char *library = NULL;

    (void)state;
    assert_int_equal(run_dir_new(&dir), 0);
    assert_int_equal(run_dir_library(dir, "/opt/my tools/libisoscope.so", &library), 0);
    assert_null(strpbrk(library, " :"));
    assert_true(readlink(library, target, sizeof(target) - 1) > 0);
    assert_string_equal(target, "/opt/my tools/libisoscope.so");
}

static void a_parent_folder_that_cannot_be_named_is_passed_over(void **state)
{
    CLEANUP(run_dir_freep) struct run_dir *dir = NULL;

    (void)state;
    setenv("XDG_RUNTIME_DIR", "/tmp/with space", 1);
    setenv("TMPDIR", "/no/such/folder", 1);
    assert_int_equal(run_dir_new(&dir), 0);
    assert_int_equal(strncmp(run_dir_socket(dir), "/tmp/isoscope-", 14), 0);
    unsetenv("XDG_RUNTIME_DIR");
    unsetenv("TMPDIR");
}

static void the_info_file_appears_whole_and_private(void **state)
{
    char folder[] = "/tmp/service_info-XXXXXX", path[64], text[64] = "";
    struct stat file;

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/info.json", folder);
    assert_int_equal(service_info_check(path), 0);
    assert_int_equal(stat(path, &file), -1);
    assert_int_equal(service_info_write(path, "http://127.0.0.1:1/x=/"), 0);
    assert_int_equal(stat(path, &file), 0);
    assert_int_equal(file.st_mode & 07777, 0600);

    FILE *stream = fopen(path, "r");
    assert_non_null(fgets(text, sizeof(text), stream));
    fclose(stream);
    assert_string_equal(text, "{\"uri\":\"http://127.0.0.1:1/x=/\"}\n");
    unlink(path);
    assert_int_equal(rmdir(folder), 0); /* nothing else was left in it */
}

static void an_unwritable_info_file_is_noticed_before(void **state)
{
    (void)state;
    assert_int_equal(service_info_check("/no/such/folder/info.json"), -ISOSCOPE_SYSTEM);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(service_info_check("/tmp"), -ISOSCOPE_SYSTEM);
    assert_int_equal(errno, EISDIR);
}

static void a_device_is_written_and_not_replaced(void **state)
{
    struct stat file;

    (void)state;
    assert_int_equal(service_info_check("/dev/null"), 0);
    assert_int_equal(service_info_write("/dev/null", "x"), 0);
    assert_int_equal(stat("/dev/null", &file), 0);
    assert_true(S_ISCHR(file.st_mode));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_folder_is_private_and_goes_away),
        cmocka_unit_test(a_plain_path_is_preloaded_as_it_is),
        cmocka_unit_test(a_path_with_a_space_gets_another_name),
        cmocka_unit_test(a_parent_folder_that_cannot_be_named_is_passed_over),
        cmocka_unit_test(the_info_file_appears_whole_and_private),
        cmocka_unit_test(an_unwritable_info_file_is_noticed_before),
        cmocka_unit_test(a_device_is_written_and_not_replaced),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
