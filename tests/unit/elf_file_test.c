#include "sampler/profile/symbols/files/elf_file.h"

#include "fake_module.h"
#include "skip_because.h"
#include "sampler/feed/cleanup.h"
#include "sampler/profile/symbols/files/elf_functions.h"
#include "sampler/profile/symbols/files/root.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#define WITHOUT_VDSO "without-vdso"

static const struct fake_elf plain = { .symbols = { { "f", 0x1000, 16, STB_GLOBAL, STT_FUNC },
                                                    { "g", 0x1010, 16, STB_LOCAL, STT_FUNC } },
                                       .build_id = { 1, 2, 3 } };

/* Of the file at the path; NULL: it can be read. */
static const char *reason(void)
{
    const char *why = NULL;

    elf_file_close(elf_file_open(ROOT_OURS, path, &why));
    return why;
}

static const char *reason_of(const struct fake_elf *elf)
{
    fake_elf_write(path, elf);
    return reason();
}

static bool count_function(void *count, const struct elf_function *function)
{
    assert_true(strlen(function->name) > 0);
    ++*(int *)count;
    return true;
}

static bool count_one(void *count, const struct elf_function *function)
{
    count_function(count, function);
    return false;
}

static int functions_in(struct elf_file *file)
{
    int count = 0;

    if (file)
        elf_functions(file, count_function, &count);
    return count;
}

/* Of an image that the test has changed. */
static int functions_of(const struct fake_elf_image *image)
{
    FILE *stream = fopen(path, "wb");
    const char *why;

    fwrite(image, sizeof(*image), 1, stream);
    fclose(stream);
    CLEANUP(elf_file_closep) struct elf_file *file = elf_file_open(ROOT_OURS, path, &why);
    uint8_t build_id[FEED_BUILD_ID_MAX];

    if (file)
        elf_file_build_id(file, build_id);
    return functions_in(file);
}

static void what_cannot_be_read_has_a_reason(void **state)
{
    struct fake_elf elf = plain;

    (void)state;
    assert_string_equal(reason(), "no such file");
    assert_null(reason_of(&elf));
    elf.class = ELFCLASS32;
    assert_string_equal(reason_of(&elf), "a 32-bit file");
    elf = plain;
    elf.data = ELFDATA2MSB;
    assert_string_equal(reason_of(&elf), "a file of the other byte order");
    elf = plain;
    elf.cut_off_at = offsetof(struct fake_elf_image, sections) + 10;
    assert_string_equal(reason_of(&elf), "the file is cut off");
    elf.cut_off_at = 3;
    assert_string_equal(reason_of(&elf), "not an ELF file");
    assert_int_equal(truncate(path, 0), 0);
    assert_string_equal(reason(), "the file is empty");
}

/* The first section tells the true count where the header has no room for it. */
static void more_sections_than_a_linked_file_has_are_damage(void **state)
{
    struct fake_elf_image *image = calloc(1, sizeof(*image));
    FILE *stream = fopen(path, "wb");

    (void)state;
    fake_elf_fill(image, &plain);
    image->header.e_shnum = 0;
    image->sections[FAKE_NULL].sh_size = 1 << 20;
    fwrite(image, sizeof(*image), 1, stream);
    fclose(stream);
    free(image);
    assert_int_equal(truncate(path, (1 << 20) * sizeof(Elf64_Shdr) + sizeof(*image)), 0);
    assert_string_equal(reason(), "the file is damaged");
}

static void a_file_that_cannot_be_opened_is_told_from_one_more_that_cannot(void **state)
{
    struct rlimit before, none;

    (void)state;
    assert_int_equal(symlink(path, path), 0);
    assert_string_equal(reason(), "the file cannot be opened");
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = (struct rlimit){ 0, before.rlim_max };
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    const char *why = reason();
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_string_equal(why, "too many files are open");
}

/* Nobody ever writes to the pipe: to open it would be to wait. */
static void a_pipe_or_a_directory_is_refused_at_once(void **state)
{
    (void)state;
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_string_equal(reason(), "not a regular file");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_string_equal(reason(), "not a regular file");
}

static void an_unreadable_file_is_told_from_a_missing_one(void **state)
{
    uid_t user = geteuid();

    (void)state;
    fake_elf_write(path, &plain);
    assert_int_equal(chmod(path, 0) | chmod(directory, 0755), 0);
    if (user == 0)
        assert_int_equal(seteuid(65534), 0);
    assert_string_equal(reason(), "permission denied");
    assert_int_equal(seteuid(user), 0);
}

/* It is read, not mapped: no SIGBUS. */
static void a_file_that_shrinks_while_it_is_read_reads_short(void **state)
{
    const char *why;

    (void)state;
    fake_elf_write(path, &plain);
    for (off_t bytes = sizeof(struct fake_elf_image); bytes >= 0; bytes -= 97) {
        CLEANUP(elf_file_closep) struct elf_file *file = NULL;
        uint8_t build_id[FEED_BUILD_ID_MAX];
        uint32_t sum;

        fake_elf_write(path, &plain);
        file = elf_file_open(ROOT_OURS, path, &why);
        assert_non_null(file);
        assert_int_equal(truncate(path, bytes), 0);
        assert_in_range(functions_in(file), 0, 2);
        elf_file_build_id(file, build_id);
        assert_true(elf_file_crc32(file, &sum));
    }
}

static void names_outside_of_their_table_are_none(void **state)
{
    struct fake_elf_image *image = calloc(1, sizeof(*image));

    (void)state;
    fake_elf_fill(image, &plain);
    assert_int_equal(functions_of(image), 2);
    image->symbols[1].st_name = sizeof(image->names);
    image->symbols[2].st_name = UINT32_MAX;
    assert_int_equal(functions_of(image), 0);

    /* A table whose last text has no end. */
    fake_elf_fill(image, &plain);
    memset(image->names + 3, 'x', sizeof(image->names) - 3);
    image->symbols[2].st_name = 4;
    assert_int_equal(functions_of(image), 1);
    free(image);
}

static void sections_beyond_the_file_are_passed_over(void **state)
{
    static const uint64_t lies[] = { sizeof(struct fake_elf_image), UINT32_MAX, INT64_MAX,
                                     UINT64_MAX - 8, UINT64_MAX };
    struct fake_elf_image *image = calloc(1, sizeof(*image));

    (void)state;
    for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++)
        for (int section = FAKE_CODE; section < FAKE_SECTIONS; section++) {
            fake_elf_fill(image, &plain);
            image->sections[section].sh_size = lies[i];
            functions_of(image);
            fake_elf_fill(image, &plain);
            image->sections[section].sh_offset = lies[i];
            functions_of(image);
            fake_elf_fill(image, &plain);
            image->sections[section].sh_entsize = lies[i];
            functions_of(image);
        }
    /* Another way to say how many there are: in the first one's size. */
    fake_elf_fill(image, &plain);
    image->header.e_shnum = 0;
    image->sections[0].sh_size = UINT64_MAX;
    assert_int_equal(functions_of(image), 0);
    free(image);
}

static void a_hole_of_many_gigabytes_is_not_read(void **state)
{
    struct fake_elf_image *image = calloc(1, sizeof(*image));
    const char *why;

    (void)state;
    fake_elf_fill(image, &plain);
    for (int section = FAKE_SYMTAB; section <= FAKE_NOTE; section++)
        image->sections[section].sh_size = UINT64_C(1) << 40;
    functions_of(image);
    assert_int_equal(truncate(path, INT64_C(1) << 41), 0);
    CLEANUP(elf_file_closep) struct elf_file *file = elf_file_open(ROOT_OURS, path, &why);
    uint8_t build_id[FEED_BUILD_ID_MAX];
    assert_non_null(file);
    assert_int_equal(functions_in(file), 0);
    assert_int_equal(elf_file_build_id(file, build_id), 0);
    free(image);
}

static void who_has_seen_enough_functions_is_shown_no_more(void **state)
{
    struct fake_elf_image *image = calloc(1, sizeof(*image));
    const char *why;
    int count = 0;

    (void)state;
    fake_elf_fill(image, &plain);
    image->sections[FAKE_LINK] = image->sections[FAKE_SYMTAB];
    image->sections[FAKE_LINK].sh_type = SHT_DYNSYM;
    assert_int_equal(functions_of(image), 4);
    CLEANUP(elf_file_closep) struct elf_file *file = elf_file_open(ROOT_OURS, path, &why);
    elf_functions(file, count_one, &count);
    assert_int_equal(count, 1);
    free(image);
}

static void a_note_that_lies_is_no_build_id(void **state)
{
    struct fake_elf_image *image = calloc(1, sizeof(*image));
    static const uint32_t lies[] = { 21, 4096, INT32_MAX, UINT32_MAX };

    (void)state;
    for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
        fake_elf_fill(image, &plain);
        image->note.head.n_descsz = lies[i];
        functions_of(image);
        fake_elf_fill(image, &plain);
        image->note.head.n_namesz = lies[i];
        functions_of(image);
    }
    free(image);
}

/* Where the kernel has put the count of arguments, for a program that has just begun. */
static long *start_of_stack(pid_t pid)
{
    char stat[64], text[1024];
    unsigned long start = 0;
    FILE *file;

    snprintf(stat, sizeof(stat), "/proc/%d/stat", pid);
    file = fopen(stat, "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof(text), file));
    fclose(file);
    const char *field = strrchr(text, ')') + 1;
    for (int number = 3; number < 28; number++)
        field = strchr(field + 1, ' ');
    assert_int_equal(sscanf(field, "%lu", &start), 1);
    return (long *)start;
}

/* Makes its auxiliary vector's entry one that nobody looks at. */
static void hide_vdso(pid_t pid)
{
    long *at = start_of_stack(pid);

    at += 1 + ptrace(PTRACE_PEEKDATA, pid, at, NULL) + 1; /* the count, the arguments, their end */
    while (ptrace(PTRACE_PEEKDATA, pid, at++, NULL))
        ; /* the environment */
    while (ptrace(PTRACE_PEEKDATA, pid, at, NULL) != AT_SYSINFO_EHDR)
        at += 2;
    assert_int_equal(ptrace(PTRACE_POKEDATA, pid, at, (void *)AT_IGNORE), 0);
}

/* This program once more, begun as on a kernel that has no vdso. */
static void without_a_vdso_there_is_a_reason(void **state)
{
    pid_t pid = fork();
    int status;

    (void)state;
    if (!pid) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
            _exit(2);
        execl("/proc/self/exe", "elf_file_test", WITHOUT_VDSO, NULL);
        _exit(1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
        skip_because("needs ptrace");
    assert_true(WIFSTOPPED(status));
    hide_vdso(pid);
    assert_int_equal(ptrace(PTRACE_DETACH, pid, NULL, NULL), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Its status: 0 when the reason is right. */
static int say_without_vdso(void)
{
    const char *why = "";
    struct elf_file *file = elf_file_open_vdso(&why);

    if (!file && !strcmp(why, "this process has no vdso"))
        return 0;
    fprintf(stderr, "there is a vdso, or it is said: %s\n", why);
    elf_file_close(file);
    return 1;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], WITHOUT_VDSO))
        return say_without_vdso();
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)
    const struct CMUnitTest tests[] = {
        TEST(what_cannot_be_read_has_a_reason),
        TEST(more_sections_than_a_linked_file_has_are_damage),
        TEST(a_file_that_cannot_be_opened_is_told_from_one_more_that_cannot),
        TEST(without_a_vdso_there_is_a_reason),
        TEST(a_pipe_or_a_directory_is_refused_at_once),
        TEST(an_unreadable_file_is_told_from_a_missing_one),
        TEST(a_file_that_shrinks_while_it_is_read_reads_short),
        TEST(names_outside_of_their_table_are_none),
        TEST(sections_beyond_the_file_are_passed_over),
        TEST(a_hole_of_many_gigabytes_is_not_read),
        TEST(who_has_seen_enough_functions_is_shown_no_more),
        TEST(a_note_that_lies_is_no_build_id),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
