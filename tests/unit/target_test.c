/* Which programs can be run with the sampler in them. */
#include "server/console/status.h"
#include "server/run/target.h"

#include "skip_because.h"
#include "sampler/include/isoscope/isoscope.h"

#include <elf.h>
#include <endian.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cmocka.h>

#if defined(__x86_64__)
enum { OWN_MACHINE = EM_X86_64 };
#else
enum { OWN_MACHINE = EM_AARCH64 };
#endif

#define OWN_IDENT                                                                                  \
    {                                                                                              \
        ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT                    \
    }

static char folder[64];
static char error[512];
static int status;

static const char *in_folder(const char *name)
{
    static char path[128];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static const char *write_file(const char *name, const void *bytes, size_t size, mode_t mode)
{
    const char *path = in_folder(name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), size);
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
    return path;
}

static const char *write_text(const char *name, const char *text)
{
    return write_file(name, text, strlen(text), 0755);
}

/* A header and one segment: as much of a program as anybody looks at. */
static const char *write_elf_of(const char *name, int machine, uint32_t segment_type,
                                const char *loader, mode_t mode)
{
    struct {
        Elf64_Ehdr header;
        Elf64_Phdr segment;
        char loader[32];
    } file = {
        .header = {
            .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
            .e_type = ET_DYN,
            .e_machine = (uint16_t)machine,
            .e_phoff = sizeof(Elf64_Ehdr),
            .e_phentsize = sizeof(Elf64_Phdr),
            .e_phnum = 1,
        },
        .segment = { .p_type = segment_type, .p_filesz = sizeof(file.loader) },
    };

    file.segment.p_offset = (uint64_t)(file.loader - (char *)&file);
    snprintf(file.loader, sizeof(file.loader), "%s", loader);
    return write_file(name, &file, sizeof(file), mode);
}

static const char *write_elf(const char *name, int machine, uint32_t segment_type, mode_t mode)
{
    return write_elf_of(name, machine, segment_type, "/lib64/ld-linux.so.2", mode);
}

static int examine_as(struct target *out, const char *path, const struct target_identity *identity)
{
    error[0] = '\0';
    status = -1;
    return target_examine(out, path, identity, &status, error, sizeof(error));
}

static int examine(struct target *out, const char *path)
{
    struct target_identity identity;

    target_identity_self(&identity);
    return examine_as(out, path, &identity);
}

static int find(char **out, const char *name, const char *search)
{
    error[0] = '\0';
    status = -1;
    return target_find(out, name, search, &status, error, sizeof(error));
}

static void a_name_is_searched_in_the_path_in_order(void **state)
{
    char search[256], *path = NULL;

    (void)state;
    write_text("tool", "#!/bin/sh\n");
    snprintf(search, sizeof(search), "/nowhere:%s:/bin", folder);
    assert_int_equal(find(&path, "tool", search), 0);
    assert_string_equal(path, in_folder("tool"));
    free(path);
    assert_int_equal(find(&path, "sh", search), 0);
    assert_string_equal(path, "/bin/sh");
    free(path);
}

static void a_name_with_a_slash_is_not_searched(void **state)
{
    char *path = NULL;

    (void)state;
    assert_int_equal(find(&path, "/bin/sh", "/nowhere"), 0);
    assert_string_equal(path, "/bin/sh");
    free(path);
}

static void an_unknown_program_gives_127(void **state)
{
    char *path = NULL;

    (void)state;
    assert_int_equal(find(&path, "no-such-program", "/bin"), -ISOSCOPE_NOT_FOUND);
    assert_int_equal(status, STATUS_NOT_FOUND);
    assert_non_null(strstr(error, "no-such-program"));
    assert_int_equal(find(&path, "/bin/no-such-program", NULL), -ISOSCOPE_NOT_FOUND);
    assert_int_equal(status, STATUS_NOT_FOUND);
    assert_string_equal(error, "/bin/no-such-program: no such program");
    assert_int_equal(find(&path, "", NULL), -ISOSCOPE_NOT_FOUND);
}

static void what_may_not_be_executed_gives_126(void **state)
{
    char *path = NULL;

    (void)state;
    write_file("data", "x", 1, 0644);
    assert_int_equal(find(&path, in_folder("data"), NULL), -ISOSCOPE_INVALID);
    assert_int_equal(status, STATUS_NOT_EXECUTABLE);
    assert_int_equal(find(&path, "data", folder), -ISOSCOPE_INVALID);
    assert_int_equal(status, STATUS_NOT_EXECUTABLE);
    assert_int_equal(find(&path, folder, NULL), -ISOSCOPE_INVALID);
    assert_int_equal(status, STATUS_NOT_EXECUTABLE);
    assert_non_null(strstr(error, " is a folder, not a program"));
    assert_int_equal(symlink(in_folder("itself"), in_folder("itself")), 0);
    assert_int_equal(find(&path, in_folder("itself"), NULL), -ISOSCOPE_INVALID);
    assert_int_equal(status, STATUS_NOT_EXECUTABLE);
    assert_non_null(strstr(error, "/itself: Too many levels of symbolic links"));
}

/* Its status: 0 when the reason is right. */
static int find_as_nobody(const char *path, const char *reason)
{
    char *found = NULL;

    if (setresgid(65534, 65534, 65534) < 0 || setresuid(65534, 65534, 65534) < 0)
        return 2;
    if (find(&found, path, NULL) != -ISOSCOPE_INVALID || status != STATUS_NOT_EXECUTABLE)
        return 1;
    return strstr(error, reason) ? 0 : 1;
}

static void expect_as_nobody(const char *path, const char *reason)
{
    pid_t pid = fork();
    int ended;

    if (!pid)
        _exit(find_as_nobody(path, reason));
    assert_int_equal(waitpid(pid, &ended, 0), pid);
    if (!WIFEXITED(ended) || WEXITSTATUS(ended))
        fail_msg("not said of %s: %s", path, reason);
}

static void what_a_user_may_not_execute_is_told_from_a_folder_he_may_not_pass(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip_because("needs root, to become another user");
    write_file("roots", "x", 1, 0700);
    expect_as_nobody(in_folder("roots"), "permission denied for a folder in its path");
    assert_int_equal(chmod(folder, 0755), 0);
    expect_as_nobody(in_folder("roots"), "this user has no permission to execute it");
    assert_int_equal(chmod(folder, 0700), 0);
}

static void a_dynamic_program_is_fine(void **state)
{
    struct target target;
    const char *path = write_elf("dynamic", OWN_MACHINE, PT_INTERP, 0755);

    (void)state;
    assert_int_equal(examine(&target, path), 0);
    assert_string_equal(target.path, path);
    assert_string_equal(target.binary, path);
    assert_false(target.needs_shell);
    target_free(&target);
}

static void a_static_program_is_refused_and_attach_is_named(void **state)
{
    struct target target;

    (void)state;
    assert_int_equal(examine(&target, write_elf("static", OWN_MACHINE, PT_LOAD, 0755)),
                     -ISOSCOPE_INVALID);
    assert_int_equal(status, STATUS_FAILED);
    assert_non_null(strstr(error, "static"));
    assert_non_null(strstr(error, "without -static"));
}

static void a_program_for_musl_is_refused(void **state)
{
    const char *path = write_elf_of("musl", OWN_MACHINE, PT_INTERP, "/lib/ld-musl-any.so.1", 0755);
    struct target target;

    (void)state;
    assert_int_equal(examine(&target, path), -ISOSCOPE_INVALID);
    assert_int_equal(status, STATUS_FAILED);
    assert_non_null(strstr(error, " uses musl, and isoscope's sampler needs glibc"));
}

static void a_program_for_another_machine_is_named_as_such(void **state)
{
    struct target target;

    (void)state;
    assert_int_equal(examine(&target, write_elf("foreign", EM_RISCV, PT_INTERP, 0755)),
                     -ISOSCOPE_INVALID);
    assert_int_equal(status, STATUS_FAILED);
    assert_non_null(strstr(error, "RISC-V"));
}

static void a_32_bit_program_is_named_as_such(void **state)
{
    const Elf32_Ehdr header = {
        .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB, EV_CURRENT },
        .e_machine = EM_386,
    };
    struct target target;

    (void)state;
    assert_int_equal(examine(&target, write_file("old", &header, sizeof(header), 0755)),
                     -ISOSCOPE_INVALID);
    assert_non_null(strstr(error, "32-bit"));
    assert_non_null(strstr(error, "i386"));
}

/* Each is cut, or says of itself what the kernel does not take. */
static void a_broken_program_is_said_to_be_broken(void **state)
{
    const struct {
        unsigned char ident[EI_NIDENT];
        Elf64_Half segment_size, segments;
        Elf64_Off segments_at;
        size_t bytes;
    } broken[] = {
        { OWN_IDENT, sizeof(Elf64_Phdr), 1, sizeof(Elf64_Ehdr), SELFMAG },
        { OWN_IDENT, sizeof(Elf64_Phdr), 1, sizeof(Elf64_Ehdr), sizeof(Elf64_Ehdr) - 1 },
        { OWN_IDENT, sizeof(Elf64_Phdr), 1, sizeof(Elf64_Ehdr), sizeof(Elf64_Ehdr) },
        { OWN_IDENT, sizeof(Elf64_Phdr), 1, UINT64_MAX - 7, sizeof(Elf64_Ehdr) },
        { OWN_IDENT, sizeof(Elf64_Phdr), 0, sizeof(Elf64_Ehdr), sizeof(Elf64_Ehdr) },
        { OWN_IDENT, 32, 1, 0, sizeof(Elf64_Ehdr) },
        { { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, 0, ELFDATA2LSB }, 0, 0, 0, sizeof(Elf64_Ehdr) },
        { { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, 3 }, 0, 0, 0, sizeof(Elf64_Ehdr) },
    };
    struct target target;

    (void)state;
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
        Elf64_Ehdr header = { .e_machine = OWN_MACHINE,
                              .e_phoff = broken[i].segments_at,
                              .e_phentsize = broken[i].segment_size,
                              .e_phnum = broken[i].segments };

        memcpy(header.e_ident, broken[i].ident, EI_NIDENT);
        write_file("broken", &header, broken[i].bytes, 0755);
        assert_int_equal(examine(&target, in_folder("broken")), -ISOSCOPE_INVALID);
        assert_int_equal(status, STATUS_NOT_EXECUTABLE);
        assert_non_null(strstr(error, "is a broken ELF file"));
    }
}

/* The length of a loader's path is the kernel's affair up to PATH_MAX, and it ends with a zero. */
static void a_loader_with_a_long_path_is_read_whole(void **state)
{
    char file[sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) + PATH_MAX] = { 0 };
    Elf64_Ehdr header = { .e_ident = OWN_IDENT,
                          .e_machine = OWN_MACHINE,
                          .e_phoff = sizeof(header),
                          .e_phentsize = sizeof(Elf64_Phdr),
                          .e_phnum = 1 };
    Elf64_Phdr segment = { .p_type = PT_INTERP,
                           .p_offset = sizeof(header) + sizeof(segment),
                           .p_filesz = PATH_MAX };
    char *loader = file + segment.p_offset;
    struct target target;

    (void)state;
    memcpy(file, &header, sizeof(header));
    memcpy(file + sizeof(header), &segment, sizeof(segment));
    memset(loader, '/', 1000);
    snprintf(loader + 1000, 40, "/ld-musl-any.so.1");
    write_file("long", file, sizeof(file), 0755);
    assert_int_equal(examine(&target, in_folder("long")), -ISOSCOPE_INVALID);
    assert_non_null(strstr(error, "musl"));
    memset(loader, '/', PATH_MAX);
    write_file("long", file, sizeof(file), 0755);
    assert_int_equal(examine(&target, in_folder("long")), -ISOSCOPE_INVALID);
    assert_non_null(strstr(error, "broken"));
}

static void a_big_endian_program_is_named_by_its_machine(void **state)
{
    const Elf64_Ehdr header = {
        .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2MSB, EV_CURRENT },
        .e_machine = htobe16(EM_S390),
    };
    struct target target;

    (void)state;
    assert_int_equal(examine(&target, write_file("old", &header, sizeof(header), 0755)),
                     -ISOSCOPE_INVALID);
    assert_int_equal(status, STATUS_FAILED);
    assert_non_null(strstr(error, "64-bit program for IBM Z"));
}

static void a_script_is_judged_by_its_interpreter(void **state)
{
    struct target target;
    char line[256];

    (void)state;
    write_elf("static", OWN_MACHINE, PT_LOAD, 0755);
    snprintf(line, sizeof(line), "#! %s -x\nbody\n", in_folder("static"));
    assert_int_equal(examine(&target, write_text("script", line)), -ISOSCOPE_INVALID);
    assert_non_null(strstr(error, "static"));

    assert_int_equal(examine(&target, write_text("script", "#!/bin/sh\n")), 0);
    assert_string_equal(target.path, in_folder("script"));
    assert_string_equal(target.binary, "/bin/sh");
    target_free(&target);
}

static void a_script_without_interpreter_gives_127(void **state)
{
    struct target target;

    (void)state;
    assert_int_equal(examine(&target, write_text("script", "#!/no/such/shell\n")),
                     -ISOSCOPE_NOT_FOUND);
    assert_int_equal(status, STATUS_NOT_FOUND);
    assert_non_null(strstr(error, "/no/such/shell"));
}

static void scripts_that_name_each_other_end(void **state)
{
    struct target target;
    char line[256];

    (void)state;
    snprintf(line, sizeof(line), "#!%s\n", in_folder("loop"));
    assert_int_equal(examine(&target, write_text("loop", line)), -ISOSCOPE_INVALID);
    assert_int_equal(status, STATUS_NOT_EXECUTABLE);
    assert_non_null(strstr(error, ": too many nested scripts"));
}

/* execvp gives such a file to the shell, and users rely on it. */
static void a_file_without_format_goes_to_the_shell(void **state)
{
    struct target target;

    (void)state;
    assert_int_equal(examine(&target, write_text("plain", "echo hello\n")), 0);
    assert_true(target.needs_shell);
    assert_string_equal(target.binary, "/bin/sh");
    target_free(&target);
}

static void a_setuid_program_of_another_owner_is_refused(void **state)
{
    const struct target_identity stranger = { 12345, 12345, 12345, 12345, false };
    struct target target;
    const char *path = write_elf("setuid", OWN_MACHINE, PT_INTERP, 04755);

    (void)state;
    assert_int_equal(examine_as(&target, path, &stranger), -ISOSCOPE_INVALID);
    assert_int_equal(status, STATUS_FAILED);
    assert_non_null(strstr(error, "set-user-ID"));
}

static void a_setgid_program_of_another_group_is_refused(void **state)
{
    const struct target_identity stranger = { getuid(), getuid(), 12345, 12345, false };
    struct target target;
    const char *path = write_elf("setgid", OWN_MACHINE, PT_INTERP, 02755);

    (void)state;
    assert_int_equal(examine_as(&target, path, &stranger), -ISOSCOPE_INVALID);
    assert_non_null(strstr(error, "set-group-ID"));
}

/* The kernel raises nothing then, and the loader keeps the preload. */
static void a_setuid_program_of_the_same_owner_is_fine(void **state)
{
    struct target target;
    const char *path = write_elf("setuid", OWN_MACHINE, PT_INTERP, 06755);

    (void)state;
    assert_int_equal(examine(&target, path), 0);
    target_free(&target);
}

/* Root has them already. */
static void file_capabilities_raise_a_users_rights(void **state)
{
    const struct target_identity stranger = {
        .uid = 12345, .euid = 12345, .gid = 12345, .egid = 12345
    };
    const struct vfs_cap_data raised = { .magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE,
                                         .data[0].permitted = 1 << CAP_NET_RAW };
    struct target target;
    const char *path = write_elf("capable", OWN_MACHINE, PT_INTERP, 0755);

    (void)state;
    if (setxattr(path, "security.capability", &raised, XATTR_CAPS_SZ_2, 0) < 0)
        skip_because("needs root, and a file system with capabilities");
    assert_int_equal(examine_as(&target, path, &stranger), -ISOSCOPE_INVALID);
    assert_int_equal(status, STATUS_FAILED);
    assert_non_null(strstr(error, "a program with file capabilities"));
    if (geteuid() == 0) {
        assert_int_equal(examine(&target, path), 0);
        target_free(&target);
    }
}

static void setuid_means_nothing_without_new_privileges(void **state)
{
    const struct target_identity stranger = { 12345, 12345, 12345, 12345, true };
    struct target target;
    const char *path = write_elf("setuid", OWN_MACHINE, PT_INTERP, 04755);

    (void)state;
    assert_int_equal(examine_as(&target, path, &stranger), 0);
    target_free(&target);
}

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/target_test-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    static const char *const names[] = { "tool",   "data", "dynamic", "static", "foreign", "old",
                                         "script", "loop", "plain",   "setuid", "setgid",  "musl",
                                         "broken", "long", "itself",  "roots",  "capable" };

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        unlink(in_folder(names[i]));
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_searched_in_the_path_in_order),
        cmocka_unit_test(a_name_with_a_slash_is_not_searched),
        cmocka_unit_test(an_unknown_program_gives_127),
        cmocka_unit_test(what_may_not_be_executed_gives_126),
        cmocka_unit_test(what_a_user_may_not_execute_is_told_from_a_folder_he_may_not_pass),
        cmocka_unit_test(a_dynamic_program_is_fine),
        cmocka_unit_test(a_static_program_is_refused_and_attach_is_named),
        cmocka_unit_test(a_program_for_musl_is_refused),
        cmocka_unit_test(a_program_for_another_machine_is_named_as_such),
        cmocka_unit_test(a_32_bit_program_is_named_as_such),
        cmocka_unit_test(a_broken_program_is_said_to_be_broken),
        cmocka_unit_test(a_loader_with_a_long_path_is_read_whole),
        cmocka_unit_test(a_big_endian_program_is_named_by_its_machine),
        cmocka_unit_test(a_script_is_judged_by_its_interpreter),
        cmocka_unit_test(a_script_without_interpreter_gives_127),
        cmocka_unit_test(scripts_that_name_each_other_end),
        cmocka_unit_test(a_file_without_format_goes_to_the_shell),
        cmocka_unit_test(a_setuid_program_of_another_owner_is_refused),
        cmocka_unit_test(a_setgid_program_of_another_group_is_refused),
        cmocka_unit_test(a_setuid_program_of_the_same_owner_is_fine),
        cmocka_unit_test(file_capabilities_raise_a_users_rights),
        cmocka_unit_test(setuid_means_nothing_without_new_privileges),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
