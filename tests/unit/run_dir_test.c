/* The private folder of a run, and the file that tells where it serves. */
#include "server/run/run_dir.h"
#include "server/service/service_info.h"
#include "server/run/stale_dirs.h"

#include "sampler/feed/cleanup.h"
#include "sampler/include/isoscope/isoscope.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static void the_folder_is_private_and_goes_away(void **state)
{
    struct run_dir *dir = NULL;
    struct stat file;
    char folder[PATH_MAX];

    (void)state;
    assert_int_equal(run_dir_new(&dir, (char[512]){ 0 }, 512), 0);
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
    assert_int_equal(run_dir_new(&dir, (char[512]){ 0 }, 512), 0);
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
    assert_int_equal(run_dir_new(&dir, (char[512]){ 0 }, 512), 0);
    assert_int_equal(run_dir_library(dir, "/opt/my tools/libisoscope.so", &library), 0);
    assert_null(strpbrk(library, " :"));
    assert_true(readlink(library, target, sizeof(target) - 1) > 0);
    assert_string_equal(target, "/opt/my tools/libisoscope.so");
}

static void a_parent_folder_that_cannot_be_named_is_passed_over(void **state)
{
    CLEANUP(run_dir_freep) struct run_dir *dir = NULL;
    char spaced[] = "/tmp/with space-XXXXXX";

    (void)state;
    assert_non_null(mkdtemp(spaced));
    setenv("XDG_RUNTIME_DIR", spaced, 1);
    setenv("TMPDIR", "/no/such/folder", 1);
    assert_int_equal(run_dir_new(&dir, (char[512]){ 0 }, 512), 0);
    assert_int_equal(strncmp(run_dir_socket(dir), "/tmp/isoscope-", 14), 0);
    unsetenv("XDG_RUNTIME_DIR");
    unsetenv("TMPDIR");
    assert_int_equal(rmdir(spaced), 0);
}

/* The loader replaces $LIB and its like. */
static void a_path_with_a_dollar_sign_gets_another_name(void **state)
{
    CLEANUP(run_dir_freep) struct run_dir *dir = NULL;
    const char *library = NULL;

    (void)state;
    assert_int_equal(run_dir_new(&dir, (char[512]){ 0 }, 512), 0);
    assert_int_equal(run_dir_library(dir, "/opt/$LIB/libisoscope.so", &library), 0);
    assert_null(strchr(library, '$'));
}

static void a_umask_does_not_close_the_folder_to_us(void **state)
{
    CLEANUP(run_dir_freep) struct run_dir *dir = NULL;
    mode_t before = umask(0777);
    char folder[PATH_MAX];
    struct stat file;

    (void)state;
    assert_int_equal(run_dir_new(&dir, (char[512]){ 0 }, 512), 0);
    umask(before);
    snprintf(folder, sizeof(folder), "%s", run_dir_socket(dir));
    *strrchr(folder, '/') = '\0';
    assert_int_equal(stat(folder, &file), 0);
    assert_int_equal(file.st_mode & 0777, 0700);
}

static void a_parent_folder_with_no_room_for_a_sockets_path_is_passed_over(void **state)
{
    CLEANUP(run_dir_freep) struct run_dir *dir = NULL;
    char problem[512] = "", long_path[128] = "/";

    (void)state;
    memset(long_path + 1, 'x', sizeof(long_path) - 2);
    setenv("TMPDIR", long_path, 1);
    assert_int_equal(run_dir_new(&dir, problem, sizeof(problem)), 0);
    assert_non_null(strstr(problem, "its path is too long for a socket's"));
    unsetenv("TMPDIR");
}

static void an_empty_variable_is_as_none(void **state)
{
    struct run_dir *dir = NULL;
    char problem[512] = "";

    (void)state;
    setenv("XDG_RUNTIME_DIR", "", 1);
    setenv("TMPDIR", "/no/such/folder", 1);
    assert_int_equal(run_dir_new(&dir, problem, sizeof(problem)), 0);
    assert_null(strstr(problem, "absolute"));
    run_dir_free(dir);
    unsetenv("XDG_RUNTIME_DIR");
    unsetenv("TMPDIR");
}

/* A folder as a run leaves it, last touched an hour ago. Its socket listens while the result is
 * open. */
static int leave_folder(const char *parent, const char *name, mode_t mode, char out[PATH_MAX])
{
    const struct timespec then[2] = { { time(NULL) - 3600, 0 }, { time(NULL) - 3600, 0 } };
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    snprintf(out, PATH_MAX, "%s/%s", parent, name);
    assert_int_equal(mkdir(out, 0700), 0);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s/feed", out);
    assert_int_equal(bind(listener, (const struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(chmod(out, mode), 0);
    assert_int_equal(utimensat(AT_FDCWD, out, then, 0), 0);
    return listener;
}

static void remove_folder(const char *folder)
{
    char socket_path[PATH_MAX + 8];

    snprintf(socket_path, sizeof(socket_path), "%s/feed", folder);
    unlink(socket_path);
    assert_int_equal(rmdir(folder), 0);
}

static void the_folder_of_a_killed_run_is_removed(void **state)
{
    char parent[] = "/tmp/stale_dirs-XXXXXX", left[PATH_MAX];

    (void)state;
    assert_non_null(mkdtemp(parent));
    close(leave_folder(parent, "isoscope-Killed", 0700, left));
    stale_dirs_remove(parent);
    assert_int_equal(access(left, F_OK), -1);
    assert_int_equal(rmdir(parent), 0);
}

/* Folders made below one with that bit have it too. */
static void it_is_also_removed_below_a_set_group_id_folder(void **state)
{
    char parent[] = "/tmp/stale_dirs-XXXXXX", left[PATH_MAX];

    (void)state;
    assert_non_null(mkdtemp(parent));
    close(leave_folder(parent, "isoscope-Killed", 02700, left));
    stale_dirs_remove(parent);
    assert_int_equal(access(left, F_OK), -1);
    assert_int_equal(rmdir(parent), 0);
}

static void the_folder_of_a_living_run_stays(void **state)
{
    char parent[] = "/tmp/stale_dirs-XXXXXX", listens[PATH_MAX], holds[PATH_MAX];
    int listener, held;

    (void)state;
    assert_non_null(mkdtemp(parent));
    listener = leave_folder(parent, "isoscope-Listen", 0700, listens);
    close(leave_folder(parent, "isoscope-Locked", 0700, holds));
    held = stale_dirs_hold(holds);
    assert_true(held >= 0);
    stale_dirs_remove(parent);
    assert_int_equal(access(listens, F_OK), 0);
    assert_int_equal(access(holds, F_OK), 0);
    close(listener);
    close(held);
    stale_dirs_remove(parent); /* both are dead now */
    assert_int_equal(rmdir(parent), 0);
}

/* Another name, another mode, something else in it, just made: none is known to be ours and dead.
 */
static void a_folder_that_is_no_runs_stays(void **state)
{
    char parent[] = "/tmp/stale_dirs-XXXXXX", named[PATH_MAX], open_to_all[PATH_MAX],
         full[PATH_MAX], fresh[PATH_MAX], file[PATH_MAX + 8];
    const struct timespec then[2] = { { time(NULL) - 3600, 0 }, { time(NULL) - 3600, 0 } };

    (void)state;
    assert_non_null(mkdtemp(parent));
    close(leave_folder(parent, "isoscope-a.b.c.", 0700, named));
    close(leave_folder(parent, "isoscope-Shared", 0755, open_to_all));
    close(leave_folder(parent, "isoscope-Filled", 0700, full));
    close(leave_folder(parent, "isoscope-Fresh1", 0700, fresh));
    assert_int_equal(utimensat(AT_FDCWD, fresh, NULL, 0), 0);
    snprintf(file, sizeof(file), "%s/notes", full);
    assert_int_equal(mkdir(file, 0700), 0);
    assert_int_equal(utimensat(AT_FDCWD, full, then, 0), 0);
    stale_dirs_remove(parent);
    assert_int_equal(access(file, F_OK), 0);
    assert_int_equal(rmdir(file), 0);
    remove_folder(named);
    remove_folder(open_to_all);
    remove_folder(full);
    remove_folder(fresh);
    assert_int_equal(rmdir(parent), 0);
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
        cmocka_unit_test(a_path_with_a_dollar_sign_gets_another_name),
        cmocka_unit_test(a_umask_does_not_close_the_folder_to_us),
        cmocka_unit_test(a_parent_folder_with_no_room_for_a_sockets_path_is_passed_over),
        cmocka_unit_test(an_empty_variable_is_as_none),
        cmocka_unit_test(the_folder_of_a_killed_run_is_removed),
        cmocka_unit_test(it_is_also_removed_below_a_set_group_id_folder),
        cmocka_unit_test(the_folder_of_a_living_run_stays),
        cmocka_unit_test(a_folder_that_is_no_runs_stays),
        cmocka_unit_test(the_info_file_appears_whole_and_private),
        cmocka_unit_test(an_unwritable_info_file_is_noticed_before),
        cmocka_unit_test(a_device_is_written_and_not_replaced),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
