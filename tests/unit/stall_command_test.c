/* The user's command for a stall: what it is told, that there is one at a time, and that it ends. */
#include "server/service/stall_command.h"

#include "sampler/feed/cleanup.h"
#include "server/net/loop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
    struct loop *loop;
    struct stall_command *command;
    char file[64];  /* what commands write to */
    char text[512]; /* of the command */
    char read[8192];
};

static const struct stall stall = {
    .number = 7,
    .name = "render",
    .tid = 43,
    .thread_name = "ui",
    .level = STALL_LEVEL_HANG,
    .told = true,
    .duration_ns = { 2100 * 1000000LL, 2104 * 1000000LL },
    .cause = STALL_CAUSE_LOCK,
    .culprit = { .function = "std::vector<int>::push_back(int&&)", .library = "app" },
    .caller = { .function = "draw", .library = "app" },
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    strcpy(fixture->file, "/tmp/isoscope-stall-XXXXXX");
    close(mkstemp(fixture->file));
    assert_int_equal(loop_new(&fixture->loop), 0);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    loop_free(fixture->loop);
    stall_command_free(fixture->command);
    unlink(fixture->file);
    free(fixture);
    return 0;
}

/* text: a format that names the file. */
__attribute__((format(printf, 2, 3))) static void command_is(struct fixture *fixture,
                                                             const char *text, ...)
{
    va_list words;

    va_start(words, text);
    vsnprintf(fixture->text, sizeof(fixture->text), text, words);
    va_end(words);
    assert_int_equal(
        stall_command_new(&fixture->command, fixture->loop, fixture->text, "http://x/y=/"), 0);
}

static const char *written(struct fixture *fixture)
{
    FILE *file = fopen(fixture->file, "r");
    size_t length = file ? fread(fixture->read, 1, sizeof(fixture->read) - 1, file) : 0;

    if (file)
        fclose(file);
    fixture->read[length] = '\0';
    return fixture->read;
}

static void await_all(struct fixture *fixture)
{
    while (stall_command_runs(fixture->command))
        assert_int_equal(loop_step(fixture->loop), 0);
}

static void the_command_is_told_the_stall_and_where_the_service_is(void **state)
{
    struct fixture *fixture = *state;

    command_is(fixture, "env | grep -E '^ISOSCOPE_' | sort > %s", fixture->file);
    stall_command_add(fixture->command, &stall, 42, false);
    await_all(fixture);
    assert_string_equal(written(fixture),
                        "ISOSCOPE_STALL_CALLER=draw\n"
                        "ISOSCOPE_STALL_CAUSE=lock\n"
                        "ISOSCOPE_STALL_CULPRIT=std::vector<int>::push_back(int&&)\n"
                        "ISOSCOPE_STALL_END=\n"
                        "ISOSCOPE_STALL_LEVEL=hang\n"
                        "ISOSCOPE_STALL_LOOP=render\n"
                        "ISOSCOPE_STALL_MS=2100\n"
                        "ISOSCOPE_STALL_NUMBER=7\n"
                        "ISOSCOPE_STALL_PID=42\n"
                        "ISOSCOPE_STALL_THREAD=ui\n"
                        "ISOSCOPE_STALL_TID=43\n"
                        "ISOSCOPE_URI=http://x/y=/\n");
}

/* isoscope under isoscope: what the outer one's program was given stays away from the command. */
static void nothing_of_another_run_reaches_it(void **state)
{
    struct fixture *fixture = *state;

    setenv("ISOSCOPE_SOCKET", "/outer", 1);
    setenv("ISOSCOPE_STALL_END", "1", 1);
    setenv("STALL_TEST_OWN", "stays", 1);
    command_is(fixture, "echo \"$ISOSCOPE_SOCKET|$ISOSCOPE_STALL_END|$STALL_TEST_OWN\" > %s",
               fixture->file);
    stall_command_add(fixture->command, &stall, 42, false);
    await_all(fixture);
    unsetenv("ISOSCOPE_SOCKET");
    unsetenv("ISOSCOPE_STALL_END");
    unsetenv("STALL_TEST_OWN");
    assert_string_equal(written(fixture), "||stays\n");
}

static void an_end_says_so(void **state)
{
    struct fixture *fixture = *state;

    command_is(fixture, "echo \"$ISOSCOPE_STALL_END\" >> %s", fixture->file);
    stall_command_add(fixture->command, &stall, 42, false);
    stall_command_add(fixture->command, &stall, 42, true);
    await_all(fixture);
    assert_string_equal(written(fixture), "\n1\n");
}

/* Each looks whether another one is in the middle of its work. */
static void one_runs_at_a_time_in_their_order(void **state)
{
    struct fixture *fixture = *state;

    command_is(fixture,
               "mkdir %s.lock || echo two >> %s; echo \"$ISOSCOPE_STALL_NUMBER\" >> %s; "
               "rmdir %s.lock",
               fixture->file, fixture->file, fixture->file, fixture->file);
    for (uint64_t number = 1; number <= 4; number++) {
        struct stall one = stall;

        one.number = number;
        stall_command_add(fixture->command, &one, 42, false);
    }
    await_all(fixture);
    assert_string_equal(written(fixture), "1\n2\n3\n4\n");
}

/* One runs, so many wait, and the others are left out. */
static void a_command_that_takes_long_is_not_run_for_every_stall(void **state)
{
    struct fixture *fixture = *state;
    unsigned lines = 0;

    command_is(fixture, "while [ ! -e %s.go ]; do sleep 0.01; done; echo x >> %s", fixture->file,
               fixture->file);
    for (int i = 0; i < 3 * STALL_COMMANDS_MAX; i++)
        stall_command_add(fixture->command, &stall, 42, false);

    char go[80];
    snprintf(go, sizeof(go), "%s.go", fixture->file);
    fclose(fopen(go, "w"));
    await_all(fixture);
    unlink(go);
    for (const char *at = written(fixture); *at; at++)
        lines += *at == '\n';
    assert_int_equal(lines, 1 + STALL_COMMANDS_MAX);
}

static void one_that_fails_is_followed_by_the_next(void **state)
{
    struct fixture *fixture = *state;

    command_is(fixture, "echo x >> %s; [ -z \"$ISOSCOPE_STALL_END\" ] && exit 3; kill -9 $$",
               fixture->file);
    stall_command_add(fixture->command, &stall, 42, false);
    stall_command_add(fixture->command, &stall, 42, true);
    stall_command_add(fixture->command, &stall, 42, false);
    await_all(fixture);
    assert_string_equal(written(fixture), "x\nx\nx\n");
}

static void one_that_never_ends_goes_when_it_is_told_to(void **state)
{
    struct fixture *fixture = *state;

    command_is(fixture, "sleep 1000 & sleep 1000");
    stall_command_add(fixture->command, &stall, 42, false);
    stall_command_add(fixture->command, &stall, 42, true);
    stall_command_stop(fixture->command);
    await_all(fixture);
}

static void it_has_nothing_to_read_and_writes_to_stderr(void **state)
{
    struct fixture *fixture = *state;

    command_is(fixture, "cat > %s; [ /proc/self/fd/1 -ef /proc/self/fd/2 ] && echo same >> %s",
               fixture->file, fixture->file);
    stall_command_add(fixture->command, &stall, 42, false);
    await_all(fixture);
    assert_string_equal(written(fixture), "same\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_command_is_told_the_stall_and_where_the_service_is),
        TEST(nothing_of_another_run_reaches_it),
        TEST(an_end_says_so),
        TEST(one_runs_at_a_time_in_their_order),
        TEST(a_command_that_takes_long_is_not_run_for_every_stall),
        TEST(one_that_fails_is_followed_by_the_next),
        TEST(one_that_never_ends_goes_when_it_is_told_to),
        TEST(it_has_nothing_to_read_and_writes_to_stderr),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
