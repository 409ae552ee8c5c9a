/* The process whose map is read is this one; time comes in as an argument. */
#include "sampler/profile/naming/perf_map.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
    char path[64];
    struct perf_map *map;
    struct names *names;
    int64_t now_us; /* a later look each time */
};

static int open_fixture(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    snprintf(fixture->path, sizeof(fixture->path), "/tmp/perf-%d.map", getpid());
    unlink(fixture->path);
    *state = fixture;
    return perf_map_new(&fixture->map, getpid()) < 0 || names_new(&fixture->names) < 0;
}

static int close_fixture(void **state)
{
    struct fixture *fixture = *state;

    perf_map_free(fixture->map);
    names_free(fixture->names);
    unlink(fixture->path);
    free(fixture);
    return 0;
}

static void append(struct fixture *fixture, const char *text)
{
    FILE *file = fopen(fixture->path, "a");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* Without another look; "": it is not known. */
static const char *name_now(struct fixture *fixture, uint64_t pc)
{
    uint32_t number = perf_map_name(fixture->map, pc, fixture->now_us, fixture->names);

    return number ? names_text(fixture->names, number) : "";
}

static const char *name_at(struct fixture *fixture, uint64_t pc)
{
    fixture->now_us += 10 * 1000 * 1000;
    return name_now(fixture, pc);
}

static void lines_name_the_code_they_cover(void **state)
{
    struct fixture *fixture = *state;

    append(fixture, "1000 10 JS:*work /a b/script.js:2:14\n0x2000 0X0 no size\n"
                    "0x3000 0x20 prefixed\nFFFFffff0000 1 letters\n");
    assert_string_equal(name_at(fixture, 0xfff), "");
    assert_string_equal(name_at(fixture, 0x1000), "JS:*work /a b/script.js:2:14");
    assert_string_equal(name_at(fixture, 0x100f), "JS:*work /a b/script.js:2:14");
    assert_string_equal(name_at(fixture, 0x1010), "");
    assert_string_equal(name_at(fixture, 0x2000), "");
    assert_string_equal(name_at(fixture, 0x301f), "prefixed");
    assert_string_equal(name_at(fixture, 0xffffffff0000), "letters");
}

static void without_a_file_nothing_is_known_until_there_is_one(void **state)
{
    struct fixture *fixture = *state;

    assert_string_equal(name_at(fixture, 0x1000), "");
    append(fixture, "1000 10 f\n");
    assert_string_equal(name_now(fixture, 0x1000), ""); /* it is not looked at all the time */
    assert_string_equal(name_at(fixture, 0x1000), "f");
}

static void a_later_line_wins_from_then_on(void **state)
{
    struct fixture *fixture = *state;

    append(fixture, "1000 100 old\n");
    assert_string_equal(name_at(fixture, 0x1080), "old");
    append(fixture, "1040 80 new\n");
    assert_string_equal(name_at(fixture, 0x1080), "new");
    assert_string_equal(name_at(fixture, 0x103f), "old");
    assert_string_equal(name_at(fixture, 0x10c0), "old");
}

static void a_line_counts_when_it_is_whole(void **state)
{
    struct fixture *fixture = *state;

    append(fixture, "1000 10 f\n2000 10 ha");
    assert_string_equal(name_at(fixture, 0x1000), "f");
    assert_string_equal(name_at(fixture, 0x2000), "");
    append(fixture, "lf\n");
    assert_string_equal(name_at(fixture, 0x2000), "half");
}

static void a_replaced_file_is_read_anew(void **state)
{
    struct fixture *fixture = *state;
    char other[80];

    append(fixture, "1000 10 f\n2000 10 g\n");
    assert_string_equal(name_at(fixture, 0x1000), "f");
    snprintf(other, sizeof(other), "%s.new", fixture->path);
    assert_int_equal(rename(fixture->path, other), 0);
    append(fixture, "1000 10 another\n");
    assert_string_equal(name_at(fixture, 0x1000), "another");
    assert_string_equal(name_at(fixture, 0x2000), "");
    unlink(other);
}

static void a_file_that_was_cut_off_is_read_anew(void **state)
{
    struct fixture *fixture = *state;

    append(fixture, "1000 10 f\n2000 10 g\n");
    assert_string_equal(name_at(fixture, 0x1000), "f");
    assert_int_equal(truncate(fixture->path, 0), 0);
    append(fixture, "1000 10 x\n");
    assert_string_equal(name_at(fixture, 0x1000), "x");
    assert_string_equal(name_at(fixture, 0x2000), "");
}

/* Cut off and longer than before at the next look: the lines are not where they were. */
static void a_file_that_was_rewritten_never_gives_a_wrong_name(void **state)
{
    struct fixture *fixture = *state;

    append(fixture, "1000 10 f\n2000 10 g\n");
    assert_string_equal(name_at(fixture, 0x1000), "f");
    assert_int_equal(truncate(fixture->path, 0), 0);
    append(fixture, "7000 10 another\n2000 10 g of another\n9000 10 z\n");
    assert_string_equal(name_at(fixture, 0x2000), "");
    assert_string_equal(name_at(fixture, 0x2000), "g of another");
}

static void nonsense_is_passed_over(void **state)
{
    struct fixture *fixture = *state;
    FILE *file;

    append(fixture, "\n \n1000\n1000 \n1000 10\n1000 10 \nxyz 10 f\n-1000 10 f\n1000 g0 f\n"
                    "11111111111111111 10 f\nffffffffffffffff 2 wraps\n1000\t10\tf\n");
    file = fopen(fixture->path, "a");
    for (int i = 0; i < 300 * 1024; i++) /* longer than what is read at once */
        fputc(i < 5 ? "5000 "[i] : i < 8 ? "10 "[i - 5] : 'x', file);
    fputs("\n6000 10 after\n", file);
    fclose(file);
    assert_string_equal(name_at(fixture, 0x1000), "");
    assert_string_equal(name_at(fixture, 0x5000), "");
    assert_string_equal(name_at(fixture, 0x6000), "after");
}

static void a_long_name_is_cut(void **state)
{
    struct fixture *fixture = *state;
    char line[4000];

    memset(line, 'x', sizeof(line));
    memcpy(line, "1000 10 ", 8);
    memcpy(line + sizeof(line) - 2, "\n", 2);
    append(fixture, line);
    assert_int_equal(strlen(name_at(fixture, 0x1000)), 512);
}

/* More lines than are kept, most of them about the same code. */
static void memory_is_for_what_still_shows(void **state)
{
    struct fixture *fixture = *state;
    FILE *file = fopen(fixture->path, "w");

    for (int i = 0; i < PERF_MAP_LINES_MAX + 1000; i++)
        fprintf(file, "%x 10 f%d\n", 0x1000 + i % 100 * 16, i);
    fputs("5000000 10 last\n", file);
    fclose(file);
    name_at(fixture, 0);
    assert_string_equal(name_at(fixture, 0x5000000), "last");
    assert_string_equal(name_at(fixture, 0x1000 + 99 * 16), "f263099");
}

static void too_many_lines_are_left_out(void **state)
{
    struct fixture *fixture = *state;
    FILE *file = fopen(fixture->path, "w");

    for (int i = 0; i < PERF_MAP_LINES_MAX + 1000; i++)
        fprintf(file, "%x 10 f%d\n", 0x1000 + i * 16, i);
    fclose(file);
    name_at(fixture, 0);
    assert_string_equal(name_at(fixture, 0x1000), "f0");
    assert_string_equal(name_at(fixture, 0x1000 + (PERF_MAP_LINES_MAX + 1) * 16), "");
}

static void only_a_file_of_the_user_is_believed(void **state)
{
    struct fixture *fixture = *state;
    char other[80];

    snprintf(other, sizeof(other), "%s.other", fixture->path);
    append(fixture, "1000 10 f\n");
    assert_int_equal(rename(fixture->path, other), 0);
    assert_int_equal(symlink(other, fixture->path), 0);
    assert_string_equal(name_at(fixture, 0x1000), "");
    unlink(fixture->path);
    assert_int_equal(mkfifo(fixture->path, 0600), 0); /* opened, it would wait for a writer */
    assert_string_equal(name_at(fixture, 0x1000), "");
    unlink(fixture->path);
    assert_int_equal(rename(other, fixture->path), 0);
    if (geteuid() == 0) { /* only root can give a file away */
        assert_int_equal(chown(fixture->path, 12345, 12345), 0);
        assert_string_equal(name_at(fixture, 0x1000), "");
        assert_int_equal(chown(fixture->path, 0, 0), 0);
    }
    assert_string_equal(name_at(fixture, 0x1000), "f");
}

/* Pids are used again, and nobody removes these files. */
static void a_file_from_before_the_process_is_not_its_own(void **state)
{
    struct fixture *fixture = *state;
    const struct timespec long_ago[2] = { { 1000000000, 0 }, { 1000000000, 0 } };

    append(fixture, "1000 10 f\n");
    assert_int_equal(utimensat(AT_FDCWD, fixture->path, long_ago, 0), 0);
    assert_string_equal(name_at(fixture, 0x1000), "");
    append(fixture, "2000 10 g\n");
    assert_string_equal(name_at(fixture, 0x1000), "f");
}

/* Writes its map where its own /tmp is, says so, and waits to be let go. */
static void be_in_a_root_of_its_own(const char *root, int say, int wait)
{
    char path[64], answer = chroot(root) == 0 ? 'y' : 'n';
    FILE *file;

    snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
    file = answer == 'y' ? fopen(path, "w") : NULL;
    if (file) {
        fputs("1000 10 inside\n", file);
        fclose(file);
    }
    if (write(say, &answer, 1) == 1 && read(wait, &answer, 1) >= 0)
        unlink(path);
    _exit(0);
}

static void the_map_is_where_the_process_sees_tmp(void **state)
{
    struct fixture *fixture = *state;
    char root[] = "/tmp/isoscope-test-XXXXXX", tmp[64], answer;
    int say[2], wait[2];
    pid_t child;

    assert_non_null(mkdtemp(root));
    snprintf(tmp, sizeof(tmp), "%s/tmp", root);
    assert_int_equal(mkdir(tmp, 0700), 0);
    assert_int_equal(pipe(say) | pipe(wait), 0);
    child = fork();
    if (child == 0) {
        close(wait[1]);
        be_in_a_root_of_its_own(root, say[1], wait[0]);
    }
    assert_int_equal(read(say[0], &answer, 1), 1);
    perf_map_free(fixture->map);
    assert_int_equal(perf_map_new(&fixture->map, child), 0);
    if (answer == 'y') /* else: only root may */
        assert_string_equal(name_at(fixture, 0x1000), "inside");
    close(wait[1]);
    waitpid(child, NULL, 0);
    close(wait[0]);
    close(say[0]);
    close(say[1]);
    rmdir(tmp);
    rmdir(root);
}

int main(void)
{
#define MAP_TEST(test) cmocka_unit_test_setup_teardown(test, open_fixture, close_fixture)
    const struct CMUnitTest tests[] = {
        MAP_TEST(lines_name_the_code_they_cover),
        MAP_TEST(without_a_file_nothing_is_known_until_there_is_one),
        MAP_TEST(a_later_line_wins_from_then_on),
        MAP_TEST(a_line_counts_when_it_is_whole),
        MAP_TEST(a_replaced_file_is_read_anew),
        MAP_TEST(a_file_that_was_cut_off_is_read_anew),
        MAP_TEST(a_file_that_was_rewritten_never_gives_a_wrong_name),
        MAP_TEST(nonsense_is_passed_over),
        MAP_TEST(a_long_name_is_cut),
        MAP_TEST(memory_is_for_what_still_shows),
        MAP_TEST(too_many_lines_are_left_out),
        MAP_TEST(only_a_file_of_the_user_is_believed),
        MAP_TEST(the_map_is_where_the_process_sees_tmp),
        MAP_TEST(a_file_from_before_the_process_is_not_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
