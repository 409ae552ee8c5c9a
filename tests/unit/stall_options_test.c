/* What the options of `isoscope run` about stalls mean. */
#include "server/run/options.h"

#include "sampler/include/isoscope/isoscope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static char error[256];

static int parse(struct run_options *out, char **argv)
{
    int argc = 0;

    while (argv[argc])
        argc++;
    error[0] = '\0';
    return options_parse(out, argc, argv, error, sizeof(error));
}

#define PARSE(out, ...) parse((out), (char *[]){ "run", __VA_ARGS__, NULL })

static void assert_refused(const char *const words[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_non_null(strstr(error, words[i]));
}

#define ASSERT_REFUSED(...)                                                                        \
    assert_refused((const char *const[]){ __VA_ARGS__ },                                           \
                   sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static const struct stall_options *stalls_of(const struct run_options *options)
{
    return &options->serve.host.stalls;
}

static uint32_t stall_limit(const struct run_options *options)
{
    return stalls_of(options)->settings.limits_ms[STALL_LEVEL_STALL];
}

static void loops_are_watched_where_nothing_is_said(void **state)
{
    struct run_options options;

    (void)state;
    assert_int_equal(PARSE(&options, "ls"), 0);
    assert_int_equal(stalls_of(&options)->settings.watch, FEED_WATCH_AUTO);
    assert_string_equal(stalls_of(&options)->watch, "auto");
    assert_string_equal(stalls_of(&options)->settings.names, "");
    assert_int_equal(stall_limit(&options), 0);
    assert_int_equal(stalls_of(&options)->fail_ms, 0);
    assert_null(stalls_of(&options)->command);
}

static void which_loops_are_watched_is_a_word_or_names(void **state)
{
    struct run_options options;
    char too_long[200];

    (void)state;
    assert_int_equal(PARSE(&options, "--watch-loops", "none", "ls"), 0);
    assert_string_equal(stalls_of(&options)->watch, "none");
    assert_int_equal(PARSE(&options, "--watch-loops", "all", "ls"), 0);
    assert_int_equal(stalls_of(&options)->settings.watch, FEED_WATCH_ALL);
    assert_int_equal(PARSE(&options, "--watch-loops", "main,io-*", "ls"), 0);
    assert_string_equal(stalls_of(&options)->watch, "auto");
    assert_string_equal(stalls_of(&options)->settings.names, "main,io-*");
    assert_int_equal(PARSE(&options, "--watch-loops", "main", "--watch-loops", "all", "ls"), 0);
    assert_string_equal(stalls_of(&options)->settings.names, "");
    memset(too_long, 'x', sizeof(too_long) - 1);
    too_long[sizeof(too_long) - 1] = '\0';
    assert_int_equal(PARSE(&options, "--watch-loops", too_long, "ls"), -ISOSCOPE_INVALID);
    ASSERT_REFUSED("--watch-loops", "127 bytes");
    assert_int_equal(PARSE(&options, "--watch-loops", "", "ls"), -ISOSCOPE_INVALID);
    ASSERT_REFUSED("--watch-loops", "''", "auto, all nor none");
}

static void times_of_stalls_have_units(void **state)
{
    static const struct {
        char *text;
        uint32_t ms;
    } times[] = { { "250", 250 }, { "4ms", 4 },    { "0.5s", 500 },
                  { "2s", 2000 }, { "1m", 60000 }, { "3600s", 3600000 } };
    struct run_options options;

    (void)state;
    for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
        assert_int_equal(PARSE(&options, "--stall-limit", times[i].text, "ls"), 0);
        assert_int_equal(stall_limit(&options), times[i].ms);
    }
}

static void a_time_that_is_none_or_that_no_look_sees_is_refused(void **state)
{
    static char *const wrong[] = { "", "x", "-5", "0x20", "5 s", "5h", "1e99", "nan", "2h", "61m" };
    struct run_options options;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        assert_int_equal(PARSE(&options, "--fail-on-stall", wrong[i], "ls"), -ISOSCOPE_INVALID);
        ASSERT_REFUSED("--fail-on-stall", wrong[i], "4ms to 1h");
    }
    assert_int_equal(PARSE(&options, "--stall-limit", "3", "ls"), -ISOSCOPE_INVALID);
    ASSERT_REFUSED("--stall-limit", "'3'", "each 4 ms");
}

/* Limits grow in their order: jank at 50 ms would lift a smaller one for stalls. */
static void a_limit_below_that_of_jank_takes_it_along(void **state)
{
    struct run_options options;

    (void)state;
    assert_int_equal(PARSE(&options, "--stall-limit", "20", "ls"), 0);
    assert_int_equal(stalls_of(&options)->settings.limits_ms[STALL_LEVEL_JANK], 20);
    assert_int_equal(PARSE(&options, "--stall-limit", "50", "ls"), 0);
    assert_int_equal(stalls_of(&options)->settings.limits_ms[STALL_LEVEL_JANK], 0);
}

static void what_fails_a_run_is_a_stall(void **state)
{
    struct run_options options;

    (void)state;
    assert_int_equal(PARSE(&options, "--fail-on-stall", "100ms", "ls"), 0);
    assert_int_equal(stalls_of(&options)->fail_ms, 100);
    assert_int_equal(stall_limit(&options), 100);
    assert_int_equal(PARSE(&options, "--fail-on-stall", "1s", "ls"), 0);
    assert_int_equal(stall_limit(&options), 0);
    assert_int_equal(PARSE(&options, "--fail-on-stall", "100ms", "--stall-limit", "200", "ls"),
                     -ISOSCOPE_INVALID);
    ASSERT_REFUSED("--fail-on-stall 100ms", "--stall-limit 200ms");
    assert_int_equal(PARSE(&options, "--fail-on-stall", "1s", "--watch-loops", "none", "ls"),
                     -ISOSCOPE_INVALID);
    ASSERT_REFUSED("--fail-on-stall", "--watch-loops none");
}

static void a_command_for_stalls_is_taken_as_it_is(void **state)
{
    struct run_options options;

    (void)state;
    assert_int_equal(PARSE(&options, "--on-stall", "echo \"$ISOSCOPE_STALL_MS\"", "ls"), 0);
    assert_string_equal(stalls_of(&options)->command, "echo \"$ISOSCOPE_STALL_MS\"");
    assert_int_equal(PARSE(&options, "--on-stall", " ", "ls"), -ISOSCOPE_INVALID);
    ASSERT_REFUSED("--on-stall", "no command");
    assert_int_equal(PARSE(&options, "--on-stall", "x", "--watch-loops", "none", "ls"),
                     -ISOSCOPE_INVALID);
    ASSERT_REFUSED("--on-stall", "--watch-loops none");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_are_watched_where_nothing_is_said),
        cmocka_unit_test(which_loops_are_watched_is_a_word_or_names),
        cmocka_unit_test(times_of_stalls_have_units),
        cmocka_unit_test(a_time_that_is_none_or_that_no_look_sees_is_refused),
        cmocka_unit_test(a_limit_below_that_of_jank_takes_it_along),
        cmocka_unit_test(what_fails_a_run_is_a_stall),
        cmocka_unit_test(a_command_for_stalls_is_taken_as_it_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
