/* The command line of `isoscope run`. */
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

static void a_program_alone_gets_the_defaults(void **state)
{
    struct run_options options;

    (void)state;
    assert_int_equal(PARSE(&options, "ls", "-l"), 0);
    assert_int_equal(options.serve.host.port, 0);
    assert_int_equal(options.serve.host.profile.settings.period_us, 1000);
    assert_int_equal(options.serve.host.profile.store_bytes, 64 << 20);
    assert_int_equal(options.serve.host.profile.settings.mode, FEED_MODE_CPU);
    assert_true(options.serve.host.profile.settings.enabled);
    assert_false(options.serve.keep || options.serve.quiet || options.help ||
                 options.serve.host.profile.debuginfod);
    assert_null(options.serve.service_info);
    assert_null(options.serve.host.socket);
    assert_false(options.serve.host.no_token || options.serve.host.web.deflate ||
                 options.serve.host.service.allow_dds);
    assert_int_equal(
        options.serve.host.web.access.hosts.count + options.serve.host.web.access.origins.count, 0);
    assert_int_equal(options.serve.host.service.rate_max, 100000);
    assert_int_equal(options.serve.host.web.patience_seconds, 120);
    assert_string_equal(options.program[0], "ls");
    assert_string_equal(options.program[1], "-l");
    assert_null(options.program[2]);
}

static void who_may_come_in_and_how_is_taken(void **state)
{
    struct run_options options;

    (void)state;
    assert_int_equal(PARSE(&options, "--socket", "/run/iso.sock", "--disable-service-auth-codes",
                           "--allow-host", "a.example", "--allow-host=b.example", "--allow-origin",
                           "null", "--client-rate", "10", "--client-patience", "5", "--deflate",
                           "--allow-dds", "ls"),
                     0);
    assert_string_equal(options.serve.host.socket, "/run/iso.sock");
    assert_true(options.serve.host.no_token && options.serve.host.web.deflate &&
                options.serve.host.service.allow_dds);
    assert_int_equal(options.serve.host.web.access.hosts.count, 2);
    assert_string_equal(options.serve.host.web.access.hosts.list[1], "b.example");
    assert_string_equal(options.serve.host.web.access.origins.list[0], "null");
    assert_int_equal(options.serve.host.service.rate_max, 10);
    assert_int_equal(options.serve.host.web.patience_seconds, 5);
    assert_int_equal(PARSE(&options, "--socket", "x", "ls"), 0);
    assert_int_equal(options.serve.host.socket[0], '/');
}

static void who_may_come_in_is_never_everybody(void **state)
{
    char long_path[120];
    struct run_options options;

    (void)state;
    memset(long_path, 'x', sizeof(long_path));
    long_path[sizeof(long_path) - 1] = '\0';
    assert_int_equal(PARSE(&options, "--allow-origin", "*", "ls"), -ISOSCOPE_INVALID);
    ASSERT_REFUSED("--allow-origin", "everyone");
    assert_int_equal(PARSE(&options, "--allow-host", "", "ls"), -ISOSCOPE_INVALID);
    ASSERT_REFUSED("--allow-host");
    assert_int_equal(PARSE(&options, "--socket", long_path, "ls"), -ISOSCOPE_INVALID);
    ASSERT_REFUSED("--socket", "107");
    assert_int_equal(PARSE(&options, "--socket", "a\"b", "ls"), -ISOSCOPE_INVALID);
    ASSERT_REFUSED("--socket", "plain");
    assert_int_equal(PARSE(&options, "--socket", "/x", "--port", "8181", "ls"), -ISOSCOPE_INVALID);
    ASSERT_REFUSED("--socket", "--port");
    assert_int_equal(PARSE(&options, "--client-patience", "0", "ls"), -ISOSCOPE_INVALID);
    ASSERT_REFUSED("--client-patience", "'0'");
}

static void every_option_is_taken(void **state)
{
    struct run_options options;

    (void)state;
    assert_int_equal(PARSE(&options, "--port", "8181", "--period=250", "--mode", "wall", "--paused",
                           "--history", "512", "--keep", "--quiet", "--debuginfod",
                           "--capture-output", "--write-service-info", "info.json", "--", "prog"),
                     0);
    assert_int_equal(options.serve.host.port, 8181);
    assert_int_equal(options.serve.host.profile.settings.period_us, 250);
    assert_int_equal(options.serve.host.profile.settings.mode, FEED_MODE_WALL);
    assert_int_equal(options.serve.host.profile.store_bytes, 512 << 20);
    assert_true(!options.serve.host.profile.settings.enabled && options.serve.keep &&
                options.serve.quiet && options.serve.host.profile.debuginfod &&
                options.capture_output);
    assert_string_equal(options.serve.service_info, "info.json");
    assert_string_equal(options.program[0], "prog");
}

static void a_protocol_version_is_two_numbers(void **state)
{
    static char *const wrong[] = { "3", "3.", ".26", "3.26.1", "0.1", "-3.1", "3.260", "4.x" };
    struct run_options options;

    (void)state;
    assert_int_equal(PARSE(&options, "prog"), 0);
    assert_int_equal(options.serve.host.service.protocol_major, 0);
    assert_int_equal(PARSE(&options, "--protocol-version", "3.26", "prog"), 0);
    assert_int_equal(options.serve.host.service.protocol_major, 3);
    assert_int_equal(options.serve.host.service.protocol_minor, 26);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        assert_int_equal(PARSE(&options, "--protocol-version", wrong[i], "prog"),
                         -ISOSCOPE_INVALID);
        ASSERT_REFUSED("--protocol-version", wrong[i]);
    }
}

static void names_are_off_and_source_is_served_when_asked_for(void **state)
{
    struct run_options options;

    (void)state;
    assert_int_equal(PARSE(&options, "prog"), 0);
    assert_false(options.serve.host.profile.no_symbols || options.serve.host.profile.source_root);
    assert_int_equal(PARSE(&options, "--no-symbols", "--source-root", "/usr/../usr", "prog"), 0);
    assert_true(options.serve.host.profile.no_symbols);
    assert_string_equal(options.serve.host.profile.source_root, "/usr");
    assert_int_equal(PARSE(&options, "--source-root", "/nowhere/at/all", "prog"),
                     -ISOSCOPE_INVALID);
    ASSERT_REFUSED("--source-root", "/nowhere/at/all");
    assert_int_equal(PARSE(&options, "--source-root", "/etc/passwd", "prog"), -ISOSCOPE_INVALID);
    ASSERT_REFUSED("/etc/passwd", "folder");
}

static void options_behind_the_program_are_the_programs(void **state)
{
    struct run_options options;

    (void)state;
    assert_int_equal(PARSE(&options, "prog", "--port", "1", "--keep"), 0);
    assert_int_equal(options.serve.host.port, 0);
    assert_false(options.serve.keep);
    assert_string_equal(options.program[1], "--port");
}

static void a_double_dash_belongs_to_isoscope_only_once(void **state)
{
    struct run_options options;

    (void)state;
    assert_int_equal(PARSE(&options, "--", "prog", "--", "x"), 0);
    assert_string_equal(options.program[0], "prog");
    assert_string_equal(options.program[1], "--");
}

static void a_bad_number_is_named_with_its_option_and_range(void **state)
{
    static char *const bad_ports[] = { "65536", "-1", "+1", " 1", "80x", "", "1.5", "0x50" };
    struct run_options options;

    (void)state;
    for (size_t i = 0; i < sizeof(bad_ports) / sizeof(bad_ports[0]); i++) {
        assert_int_equal(PARSE(&options, "--port", bad_ports[i], "prog"), -ISOSCOPE_INVALID);
        ASSERT_REFUSED("--port", bad_ports[i], "0", "65535");
    }
    assert_int_equal(PARSE(&options, "--period", "49", "prog"), -ISOSCOPE_INVALID);
    ASSERT_REFUSED("--period", "'49'", "50", "1000000");
    assert_int_equal(PARSE(&options, "--mode", "both", "prog"), -ISOSCOPE_INVALID);
    ASSERT_REFUSED("--mode", "'both'", "cpu", "wall");
    assert_int_equal(PARSE(&options, "--depth", "1025", "prog"), -ISOSCOPE_INVALID);
    ASSERT_REFUSED("--depth", "'1025'", "2", "1024");
    assert_int_equal(PARSE(&options, "--depth", "1", "prog"), -ISOSCOPE_INVALID);
    assert_int_equal(PARSE(&options, "--period", "1000001", "prog"), -ISOSCOPE_INVALID);
    assert_int_equal(PARSE(&options, "--period", "99999999999999999999", "prog"),
                     -ISOSCOPE_INVALID);
}

static void the_ends_of_a_range_belong_to_it(void **state)
{
    struct run_options options;

    (void)state;
    assert_int_equal(PARSE(&options, "--port", "65535", "--period", "50", "prog"), 0);
    assert_int_equal(options.serve.host.port, 65535);
    assert_int_equal(PARSE(&options, "--port", "0", "--period", "1000000", "prog"), 0);
    assert_int_equal(options.serve.host.profile.settings.period_us, 1000000);
    assert_int_equal(PARSE(&options, "--depth", "2", "prog"), 0);
    assert_int_equal(options.serve.host.profile.settings.depth_max, 2);
    assert_int_equal(PARSE(&options, "--depth", "1024", "prog"), 0);
    assert_int_equal(options.serve.host.profile.settings.depth_max, 1024);
}

static void an_unknown_option_is_named(void **state)
{
    struct run_options options;

    (void)state;
    assert_int_equal(PARSE(&options, "--speed", "prog"), -ISOSCOPE_INVALID);
    ASSERT_REFUSED("--speed");
    assert_int_equal(PARSE(&options, "--port"), -ISOSCOPE_INVALID);
    ASSERT_REFUSED("--port", "value");
}

static void a_missing_program_is_told(void **state)
{
    struct run_options options;

    (void)state;
    assert_int_equal(PARSE(&options, "--keep"), -ISOSCOPE_INVALID);
    ASSERT_REFUSED("no program");
    assert_int_equal(PARSE(&options, "--keep", "--"), -ISOSCOPE_INVALID);
    assert_int_equal(PARSE(&options, ""), -ISOSCOPE_INVALID);
}

#define RECORD(out, ...) parse((out), (char *[]){ "record", __VA_ARGS__, NULL })

static void a_recording_has_the_programs_name_in_the_current_folder(void **state)
{
    struct run_options options;

    (void)state;
    assert_int_equal(RECORD(&options, "/usr/bin/python3", "-c", "1"), 0);
    assert_string_equal(options.serve.recording.path, "python3.isoscope");
    assert_true(options.serve.host.deaf);
    assert_string_equal(options.serve.host.service.command[1], "-c");
    assert_int_equal(RECORD(&options, "-o", "/tmp/x.isoscope", "--period", "250", "ls"), 0);
    assert_string_equal(options.serve.recording.path, "/tmp/x.isoscope");
    assert_int_equal(options.serve.host.profile.settings.period_us, 250);
    assert_int_equal(RECORD(&options, "ls/"), -ISOSCOPE_INVALID);
    ASSERT_REFUSED("no name", "-o");
    assert_int_equal(RECORD(&options, "--port", "80", "ls"), -ISOSCOPE_INVALID);
    ASSERT_REFUSED("--port", "isoscope record");
}

static void a_run_records_only_where_it_is_told_to(void **state)
{
    struct run_options options;

    (void)state;
    assert_int_equal(PARSE(&options, "ls"), 0);
    assert_null(options.serve.recording.path);
    assert_false(options.serve.host.deaf);
    assert_int_equal(
        PARSE(&options, "-o", "a.isoscope", "--rotate", "5m", "--keep-files", "12", "--keep", "ls"),
        0);
    assert_string_equal(options.serve.recording.path, "a.isoscope");
    assert_int_equal(options.serve.recording.rotate_seconds, 300);
    assert_int_equal(options.serve.recording.keep_files, 12);
    assert_true(options.serve.keep);
    assert_int_equal(PARSE(&options, "--rotate", "5m", "ls"), -ISOSCOPE_INVALID);
    ASSERT_REFUSED("--rotate", "-o");
}

static void rotation_is_a_time_and_a_number_of_files(void **state)
{
    static char *const wrong[] = { "0", "-1", "", "5x", "m", "1.5h", "169h", "60ss", "+5" };
    struct run_options options;

    (void)state;
    assert_int_equal(RECORD(&options, "--rotate", "60s", "--keep", "60", "ls"), 0);
    assert_int_equal(options.serve.recording.rotate_seconds, 60);
    assert_int_equal(options.serve.recording.keep_files, 60);
    assert_int_equal(RECORD(&options, "--rotate", "2h", "ls"), 0);
    assert_int_equal(options.serve.recording.rotate_seconds, 7200);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        assert_int_equal(RECORD(&options, "--rotate", wrong[i], "ls"), -ISOSCOPE_INVALID);
        ASSERT_REFUSED("--rotate", wrong[i], "60s");
    }
    assert_int_equal(RECORD(&options, "--keep", "60", "ls"), -ISOSCOPE_INVALID);
    ASSERT_REFUSED("--rotate");
}

static void help_needs_no_program(void **state)
{
    struct run_options options;

    (void)state;
    assert_int_equal(PARSE(&options, "--help"), 0);
    assert_true(options.help);
    assert_null(options.program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_alone_gets_the_defaults),
        cmocka_unit_test(who_may_come_in_and_how_is_taken),
        cmocka_unit_test(who_may_come_in_is_never_everybody),
        cmocka_unit_test(every_option_is_taken),
        cmocka_unit_test(a_protocol_version_is_two_numbers),
        cmocka_unit_test(names_are_off_and_source_is_served_when_asked_for),
        cmocka_unit_test(options_behind_the_program_are_the_programs),
        cmocka_unit_test(a_double_dash_belongs_to_isoscope_only_once),
        cmocka_unit_test(a_bad_number_is_named_with_its_option_and_range),
        cmocka_unit_test(the_ends_of_a_range_belong_to_it),
        cmocka_unit_test(an_unknown_option_is_named),
        cmocka_unit_test(a_missing_program_is_told),
        cmocka_unit_test(a_recording_has_the_programs_name_in_the_current_folder),
        cmocka_unit_test(a_run_records_only_where_it_is_told_to),
        cmocka_unit_test(rotation_is_a_time_and_a_number_of_files),
        cmocka_unit_test(help_needs_no_program),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
