#include "sampler/profile/symbols/files/module_file.h"

#include "fake_module.h"
#include "skip_because.h"
#include "sampler/feed/cleanup.h"
#include "sampler/profile/symbols/files/debug_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

enum { MAPPED_BYTES = 4096 };

static const struct fake_elf mine = { .symbols = { { "f", 0x1000, 16, STB_LOCAL, STT_FUNC } },
                                      .build_id = { 1, 2, 3 } };
static const struct fake_elf other = { .symbols = { { "g", 0x1000, 16, STB_LOCAL, STT_FUNC } },
                                       .build_id = { 4, 5, 6 } };

static struct module_file module_at(const char *where, int32_t pid, const void *address)
{
    return (struct module_file){ .path = where,
                                 .build_id = mine.build_id,
                                 .build_id_bytes = 20,
                                 .pid = pid,
                                 .address = (uintptr_t)address };
}

/* NULL: it was opened, and is the right one. */
static const char *reason(struct module_file module)
{
    const char *why = NULL;
    CLEANUP(elf_file_closep) struct elf_file *file = module_file_open(&module, &why);

    assert_true(file || why);
    if (file && module.build_id_bytes)
        assert_true(elf_file_is_build(file, module.build_id, module.build_id_bytes));
    return file ? NULL : why;
}

/* As a program's loader does; the file may go then. */
static void *map_module(void)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *address = mmap(NULL, MAPPED_BYTES, PROT_READ, MAP_PRIVATE, fd, 0);

    close(fd);
    assert_ptr_not_equal(address, MAP_FAILED);
    return address;
}

static bool may_open_mappings(const void *address)
{
    char link[96];
    int fd;

    snprintf(link, sizeof(link), "/proc/self/map_files/%" PRIxPTR "-%" PRIxPTR, (uintptr_t)address,
             (uintptr_t)address + MAPPED_BYTES);
    fd = open(link, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static pid_t ended_process(void)
{
    pid_t pid = fork();

    if (pid == 0)
        _exit(0);
    waitpid(pid, NULL, 0);
    return pid;
}

/* Lives in the directory as its root until it is killed; 0: that takes root. */
static pid_t process_in_root(void)
{
    int ready[2];
    char byte = 0;
    pid_t pid;

    assert_int_equal(pipe(ready), 0);
    pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* should the test fail meanwhile */
        byte = chroot(directory) == 0;
        if (write(ready[1], &byte, 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    if (byte)
        return pid;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return 0;
}

static void end_process(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void the_file_at_the_path_is_opened(void **state)
{
    (void)state;
    fake_elf_write(path, &mine);
    assert_null(reason(module_at(path, 0, NULL)));
    assert_null(reason(module_at(path, getpid(), NULL)));
}

static void what_has_no_absolute_path_is_no_file(void **state)
{
    (void)state;
    assert_string_equal(reason(module_at("", 0, NULL)), "not a file");
    assert_string_equal(reason(module_at("[heap]", 0, NULL)), "not a file");
    assert_string_equal(reason(module_at("relative", 0, NULL)), "not a file");
}

static void a_deleted_file_is_read_through_the_process_that_maps_it(void **state)
{
    const char *why;
    void *address;

    (void)state;
    fake_elf_write(path, &mine);
    address = map_module();
    unlink(path);
    why = reason(module_at(path, getpid(), address));
    if (may_open_mappings(address))
        assert_null(why);
    else
        assert_string_equal(why,
                            "deleted, or in a container; root may read it while its process lives");
    munmap(address, MAPPED_BYTES);
}

static void a_replaced_file_is_read_through_the_process_that_maps_it(void **state)
{
    const char *why;
    void *address;

    (void)state;
    fake_elf_write(path, &mine);
    address = map_module();
    unlink(path);
    fake_elf_write(path, &other);
    why = reason(module_at(path, getpid(), address));
    if (may_open_mappings(address))
        assert_null(why);
    else
        assert_string_equal(why, "the file was replaced by another build");
    munmap(address, MAPPED_BYTES);
}

/* Its number may be another process's by now, which has something else there. */
static void what_is_mapped_there_now_counts_only_when_it_is_the_module(void **state)
{
    struct module_file module;
    void *address;

    (void)state;
    fake_elf_write(path, &other);
    address = map_module();
    unlink(path);
    assert_non_null(reason(module_at(path, getpid(), address)));
    module = module_at("/another/path", getpid(), address);
    module.build_id_bytes = 0;
    assert_non_null(reason(module));
    module = module_at("/another/path (deleted)", getpid(), address);
    module.build_id_bytes = 0;
    assert_non_null(reason(module));
    munmap(address, MAPPED_BYTES);
}

static void a_deleted_file_without_build_id_is_known_by_its_path(void **state)
{
    char deleted[160];
    struct module_file module;
    void *address;

    (void)state;
    fake_elf_write(path, &mine);
    address = map_module();
    unlink(path);
    fake_elf_write(path, &other);
    snprintf(deleted, sizeof(deleted), "%s (deleted)", path);
    module = module_at(deleted, getpid(), address);
    module.build_id_bytes = 0;
    assert_true((reason(module) == NULL) == may_open_mappings(address));
    munmap(address, MAPPED_BYTES);
}

static void a_deleted_file_of_an_ended_process_is_gone(void **state)
{
    (void)state;
    assert_string_equal(reason(module_at(path, ended_process(), NULL)),
                        "deleted, and its process has ended");
    assert_string_equal(reason(module_at(path, 0, NULL)), "no such file");
}

static void a_file_in_a_processs_own_root_is_found_there(void **state)
{
    char library[160], link[160];
    pid_t pid;

    (void)state;
    snprintf(library, sizeof(library), "%s/usr", directory);
    mkdir(library, 0700);
    strcat(library, "/lib.so");
    snprintf(link, sizeof(link), "%s/lib", directory);
    fake_elf_write(library, &mine);
    assert_int_equal(symlink("/usr", link), 0); /* leads elsewhere in our own root */
    if (!(pid = process_in_root()))
        skip_because("only root may change a process's root");
    assert_null(reason(module_at("/usr/lib.so", pid, NULL)));
    assert_null(reason(module_at("/lib/lib.so", pid, NULL)));
    end_process(pid);
    assert_string_equal(reason(module_at("/usr/lib.so", pid, NULL)),
                        "deleted, and its process has ended");
}

static void debug_data_in_a_processs_own_root_is_found_there(void **state)
{
    char command[256], debug[256];
    struct module_file module;
    struct elf_file *file;
    pid_t pid;

    (void)state;
    snprintf(command, sizeof(command), "mkdir -p %s/usr/lib/debug/.build-id/01", directory);
    assert_int_equal(system(command), 0);
    snprintf(debug, sizeof(debug), "%s/usr/lib/debug/.build-id/01/0203%034d.debug", directory, 0);
    fake_elf_write(debug, &mine);
    if (!(pid = process_in_root()))
        skip_because("only root may change a process's root");
    module = module_at("/gone", pid, NULL);
    file = debug_file_open(&module, NULL);
    assert_non_null(file);
    elf_file_close(file);
    end_process(pid);
    assert_null(debug_file_open(&module, NULL));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)
    const struct CMUnitTest tests[] = {
        TEST(the_file_at_the_path_is_opened),
        TEST(what_has_no_absolute_path_is_no_file),
        TEST(a_deleted_file_is_read_through_the_process_that_maps_it),
        TEST(a_replaced_file_is_read_through_the_process_that_maps_it),
        TEST(what_is_mapped_there_now_counts_only_when_it_is_the_module),
        TEST(a_deleted_file_without_build_id_is_known_by_its_path),
        TEST(a_deleted_file_of_an_ended_process_is_gone),
        TEST(a_file_in_a_processs_own_root_is_found_there),
        TEST(debug_data_in_a_processs_own_root_is_found_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
