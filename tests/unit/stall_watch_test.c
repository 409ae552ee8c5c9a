/* What a run's options want done about stalls, over a list of stalls that the test tells. */
#include "server/service/stall_watch.h"

#include "sampler/profile/snapshot.h"
#include "server/net/loop.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { STALLS_MAX = 16 };
static const int64_t ms_ns = 1000000;

/* The profile: the door's calls stand here, in place of its own. */
static struct {
    struct stall list[STALLS_MAX];
    size_t count;
    uint64_t change;
} told;

struct stalls {
    uint64_t since, change;
    size_t places[STALLS_MAX], count;
};

uint64_t profile_stalls_change(struct profile *profile)
{
    (void)profile;
    return told.change;
}

int stalls_take(struct stalls **out, struct profile *profile, const struct stalls_window *window)
{
    struct stalls *stalls = calloc(1, sizeof(*stalls));

    (void)profile;
    for (size_t i = 0; i < told.count; i++)
        if (told.list[i].change > window->since)
            stalls->places[stalls->count++] = i;
    stalls->change = told.change;
    *out = stalls;
    return 0;
}

void stalls_free(struct stalls *stalls)
{
    free(stalls);
}

size_t stalls_count(const struct stalls *stalls)
{
    return stalls->count;
}

const struct stall *stalls_at(const struct stalls *stalls, size_t index)
{
    return &told.list[stalls->places[index]];
}

uint64_t stalls_change(const struct stalls *stalls)
{
    return stalls->change;
}

bool profile_process(struct profile *profile, uint64_t process_id, struct process_info *out)
{
    (void)profile;
    *out = (struct process_info){ .id = process_id, .pid = 42, .name = "server" };
    return true;
}

struct fixture {
    struct loop *loop;
    struct stall_options options;
    struct stall_watch *watch;
    char file[64];
    char command[128];
    char text[8192];
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    memset(&told, 0, sizeof(told));
    strcpy(fixture->file, "/tmp/isoscope-watch-XXXXXX");
    close(mkstemp(fixture->file));
    assert_int_equal(loop_new(&fixture->loop), 0);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    loop_free(fixture->loop);
    stall_watch_free(fixture->watch);
    unlink(fixture->file);
    free(fixture);
    return 0;
}

static void watch_for(struct fixture *fixture, uint32_t fail_ms, const char *command)
{
    fixture->options = (struct stall_options){ .fail_ms = fail_ms, .command = command };
    assert_int_equal(stall_watch_new(&fixture->watch, &fixture->options, NULL, fixture->loop, ""),
                     0);
}

/* Of this number, whatever was told of it before. */
static void tell(struct fixture *fixture, uint64_t number, int64_t ms, enum stall_cause cause,
                 bool ongoing)
{
    size_t place = 0;

    while (place < told.count && told.list[place].number != number)
        place++;
    told.count += place == told.count;
    told.list[place] = (struct stall){
        .number = number,
        .change = ++told.change,
        .process_id = 42,
        .name = "main",
        .thread_name = "ui",
        .level = STALL_LEVEL_STALL,
        .ongoing = ongoing,
        .told = number != 9,
        .duration_ns = { ms * ms_ns, (ms + 4) * ms_ns },
        .cause = cause,
        .culprit = { .function = "compress", .library = "server" },
        .caller = { .function = "save", .library = "server" },
    };
    stall_watch_look(fixture->watch);
}

static const char *written(struct fixture *fixture)
{
    FILE *file = fopen(fixture->file, "r");
    size_t length = file ? fread(fixture->text, 1, sizeof(fixture->text) - 1, file) : 0;

    if (file)
        fclose(file);
    fixture->text[length] = '\0';
    return fixture->text;
}

/* What is said at the end, on stderr. */
static const char *finish(struct fixture *fixture, bool failed)
{
    int file = open(fixture->file, O_WRONLY | O_TRUNC), before = dup(STDERR_FILENO);

    dup2(file, STDERR_FILENO);
    stall_watch_finish(fixture->watch, failed);
    dup2(before, STDERR_FILENO);
    close(before);
    close(file);
    return written(fixture);
}

static void options_that_want_nothing_have_no_watch(void **state)
{
    struct fixture *fixture = *state;

    watch_for(fixture, 0, NULL);
    assert_null(fixture->watch);
    stall_watch_look(fixture->watch);
    stall_watch_finish(fixture->watch, false);
    stall_watch_stop(fixture->watch);
    assert_false(stall_watch_fails(fixture->watch) || stall_watch_runs(fixture->watch));
}

static void a_stall_counts_from_that_length_on(void **state)
{
    struct fixture *fixture = *state;

    watch_for(fixture, 400, NULL);
    tell(fixture, 1, 399, STALL_CAUSE_BUSY, false);
    assert_false(stall_watch_fails(fixture->watch));
    tell(fixture, 2, 400, STALL_CAUSE_BUSY, true);
    assert_true(stall_watch_fails(fixture->watch));
    tell(fixture, 2, 700, STALL_CAUSE_LOCK, false);
    assert_string_equal(
        finish(fixture, false),
        "isoscope: loop 'main' of thread 'ui' in server (42) stalled for 700 ms: lock, in "
        "compress, called by save\n"
        "isoscope: 1 stall of 400 ms or longer (--fail-on-stall); the exit status is 3\n");
}

static void one_that_goes_on_at_the_end_counts_as_long_as_it_has_lasted(void **state)
{
    struct fixture *fixture = *state;

    watch_for(fixture, 400, NULL);
    tell(fixture, 1, 500, STALL_CAUSE_BUSY, true);
    assert_non_null(strstr(finish(fixture, true), "stalled for 500 ms and more: busy"));
    assert_non_null(strstr(fixture->text, "the exit status is the program's own"));
}

/* The cause is what its whole time says: it may be another one than at first. */
static void the_machines_own_stalls_do_not_count_as_soon_as_that_is_known(void **state)
{
    struct fixture *fixture = *state;

    watch_for(fixture, 400, NULL);
    tell(fixture, 1, 500, STALL_CAUSE_BUSY, true);
    tell(fixture, 2, 500, STALL_CAUSE_STOPPED, false);
    assert_true(stall_watch_fails(fixture->watch));
    tell(fixture, 1, 600, STALL_CAUSE_HOST, false);
    assert_false(stall_watch_fails(fixture->watch));
    assert_string_equal(finish(fixture, false),
                        "isoscope: not counted by --fail-on-stall: 2 stalls in which the whole "
                        "machine was late, or the program was stopped\n");
    tell(fixture, 1, 600, STALL_CAUSE_BUSY, false);
    assert_true(stall_watch_fails(fixture->watch));
}

static void ten_are_named_and_all_are_counted(void **state)
{
    struct fixture *fixture = *state;
    unsigned named = 0;

    watch_for(fixture, 400, NULL);
    for (uint64_t number = 1; number <= 13; number++)
        tell(fixture, number, 500, STALL_CAUSE_BUSY, false);
    for (const char *at = finish(fixture, false); (at = strstr(at, "loop 'main'")); at++)
        named++;
    assert_int_equal(named, 10);
    assert_non_null(strstr(fixture->text, "... and 3 more"));
    assert_non_null(strstr(fixture->text, "13 stalls of 400 ms or longer"));
}

static void a_command_is_run_once_for_the_begin_and_once_for_the_end(void **state)
{
    struct fixture *fixture = *state;

    snprintf(fixture->command, sizeof(fixture->command),
             "echo \"$ISOSCOPE_STALL_NUMBER$ISOSCOPE_STALL_END\" >> %s", fixture->file);
    watch_for(fixture, 0, fixture->command);
    tell(fixture, 1, 260, STALL_CAUSE_BUSY, true);
    tell(fixture, 1, 900, STALL_CAUSE_BUSY, true);
    tell(fixture, 1, 950, STALL_CAUSE_BUSY, false);
    tell(fixture, 1, 950, STALL_CAUSE_BUSY, false); /* its names have come */
    tell(fixture, 9, 300, STALL_CAUSE_BUSY, false); /* equal ones were told often enough */
    tell(fixture, 3, 300, STALL_CAUSE_BUSY, false);
    while (stall_watch_runs(fixture->watch))
        assert_int_equal(loop_step(fixture->loop), 0);
    assert_string_equal(written(fixture), "1\n11\n3\n31\n");
    assert_false(stall_watch_fails(fixture->watch));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(options_that_want_nothing_have_no_watch),
        TEST(a_stall_counts_from_that_length_on),
        TEST(one_that_goes_on_at_the_end_counts_as_long_as_it_has_lasted),
        TEST(the_machines_own_stalls_do_not_count_as_soon_as_that_is_known),
        TEST(ten_are_named_and_all_are_counted),
        TEST(a_command_is_run_once_for_the_begin_and_once_for_the_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
