/* Prometheus' text of the scripted profile: its lines, its labels, and counters that never fall. */
#include "talk.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LOOPS_MANY = 300 };

static int64_t cpu_ns(void)
{
    return 1234567890;
}

/* With its end. */
static char *metrics_of(struct talk *talk)
{
    size_t length;
    char *bytes = service_metrics(talk->service, &length);
    char *text = strndup(bytes, length);

    assert_int_equal(strlen(text), length);
    free(bytes);
    return text;
}

static bool has_line(const char *text, const char *line)
{
    const char *at = text;
    size_t length = strlen(line);

    while ((at = strstr(at, line))) {
        if ((at == text || at[-1] == '\n') && at[length] == '\n')
            return true;
        at += length;
    }
    return false;
}

static void assert_line(const char *text, const char *line)
{
    if (!has_line(text, line))
        fail_msg("there is no line\n%s\nin\n%.2000s", line, text);
}

/* The value behind a series; -1: it is not there. */
static double value_of(const char *text, const char *series)
{
    const char *at = text;
    size_t length = strlen(series);

    while ((at = strstr(at, series))) {
        if ((at == text || at[-1] == '\n') && at[length] == ' ')
            return strtod(at + length, NULL);
        at += length;
    }
    return -1;
}

static unsigned count_lines(const char *text, const char *beginning)
{
    const char *at = text;
    unsigned count = 0;

    while ((at = strstr(at, beginning))) {
        count += at == text || at[-1] == '\n';
        at += strlen(beginning);
    }
    return count;
}

static void begin(struct talk *talk)
{
    talk_begin_as(talk, &(struct service_options){ .cpu_ns = cpu_ns }, false);
    for (size_t i = 0; i < talk->profile.process_count; i++)
        memset(talk->profile.processes[i].status.lost, 0,
               sizeof(talk->profile.processes[i].status.lost));
}

static void end(struct talk *talk, char *text)
{
    free(text);
    talk_end(talk);
}

static void stalls_are_counted_by_loop_and_cause(void **state)
{
    struct talk talk;
    char *text;

    (void)state;
    begin(&talk);
    fake_loops(&talk.profile);
    text = metrics_of(&talk);
    assert_line(text, "# TYPE isoscope_stalls_total counter");
    assert_line(
        text,
        "isoscope_stalls_total{process=\"spin\",loop=\"main\",thread=\"spin\",cause=\"lock\"} 1");
    assert_line(
        text,
        "isoscope_stalls_total{process=\"spin\",loop=\"main\",thread=\"spin\",cause=\"io\"} 0");
    assert_line(text, "isoscope_stalls_total{process=\"spin\",loop=\"worker\xef\xbf\xbd\","
                      "thread=\"worker\",cause=\"page-fault\"} 1");
    assert_line(text,
                "isoscope_stalls_dismissed_total{process=\"spin\",loop=\"worker\xef\xbf\xbd\","
                "thread=\"worker\"} 4");
    assert_line(text, "isoscope_loop_late_dispatches_total{process=\"spin\",loop=\"main\","
                      "thread=\"spin\",level=\"jank\"} 2");
    assert_line(text, "isoscope_loop_blocking_seconds_total{process=\"spin\",loop=\"main\","
                      "thread=\"spin\"} 0.280000000");
    assert_line(text, "isoscope_stalls_told_total 2");
    assert_line(text, "isoscope_stalls_not_told_total{reason=\"equal\"} 3");
    assert_line(text, "isoscope_stalls_lost_total{reason=\"evicted\"} 6");
    assert_line(text, "isoscope_loops_unwatched{process=\"spin\"} 1");
    end(&talk, text);
}

/* A bucket has all that took less; the last has all. */
static void histograms_are_cumulative(void **state)
{
    static const char labels[] = "process=\"spin\",loop=\"main\",thread=\"spin\"";
    static const struct {
        const char *bound;
        double count;
    } owed[] = { { "3.2e-05", 0 },   { "6.4e-05", 0 },    { "0.000128", 10 },
                 { "0.065536", 10 }, { "0.131072", 12 },  { "0.262144", 12 },
                 { "0.524288", 13 }, { "33.554432", 13 }, { "+Inf", 13 } };
    char series[256];
    struct talk talk;
    char *text;

    (void)state;
    begin(&talk);
    fake_loops(&talk.profile);
    text = metrics_of(&talk);
    assert_line(text, "# TYPE isoscope_loop_dispatch_seconds histogram");
    for (size_t i = 0; i < sizeof(owed) / sizeof(*owed); i++) {
        snprintf(series, sizeof(series), "isoscope_loop_dispatch_seconds_bucket{%s,le=\"%s\"}",
                 labels, owed[i].bound);
        assert_true(value_of(text, series) == owed[i].count);
    }
    snprintf(series, sizeof(series), "isoscope_loop_dispatch_seconds_count{%s} 13", labels);
    assert_line(text, series);
    snprintf(series, sizeof(series), "isoscope_loop_dispatch_seconds_sum{%s} 0.500000000", labels);
    assert_line(text, series);
    snprintf(series, sizeof(series), "isoscope_loop_delay_seconds_bucket{%s,le=\"3.2e-05\"} 2",
             labels);
    assert_line(text, series);
    end(&talk, text);
}

static void the_service_and_its_sampling_are_told(void **state)
{
    struct talk talk;
    char *text;

    (void)state;
    begin(&talk);
    talk.profile.processes[0].status.lost[FEED_LOSS_RING_FULL] = 7;
    talk.profile.processes[0].samples = 40;
    talk.profile.processes[0].evicted = 2;
    text = metrics_of(&talk);
    assert_line(text, "isoscope_build_info{version=\"1.2.3\"} 1");
    assert_line(text, "isoscope_service_cpu_seconds_total 1.234567890");
    assert_line(text, "isoscope_process_up{process=\"spin\"} 1");
    assert_line(text, "isoscope_process_up{process=\"sh\"} 0");
    assert_line(text, "isoscope_samples_total{process=\"spin\"} 42");
    assert_line(text, "isoscope_samples_lost_total{reason=\"ring_full\"} 7");
    end(&talk, text);
}

static void labels_take_any_bytes(void **state)
{
    struct talk talk;
    char *text;

    (void)state;
    begin(&talk);
    strcpy(talk.profile.processes[0].name, "a\"b\\c\nd\xff\xc3\xa9\t");
    text = metrics_of(&talk);
    assert_line(text, "isoscope_process_up{process=\"a\\\"b\\\\c\\nd\xef\xbf\xbd\xc3\xa9\t\"} 1");
    end(&talk, text);
}

/* What it counted stays in the sum. One that comes again with its name goes on from there. */
static void counters_do_not_fall_when_a_process_or_a_loop_is_forgotten(void **state)
{
    static const char stalls[] =
        "isoscope_stalls_total{process=\"spin\",loop=\"main\",thread=\"spin\",cause=\"lock\"}";
    static const char samples[] = "isoscope_samples_total{process=\"spin\"}";
    static const char lost[] = "isoscope_samples_lost_total{reason=\"ring_full\"}";
    struct talk talk;
    char *text;

    (void)state;
    begin(&talk);
    fake_loops(&talk.profile);
    talk.profile.processes[0].status.lost[FEED_LOSS_RING_FULL] = 7;
    talk.profile.processes[0].samples = 40;
    free(metrics_of(&talk));
    talk.profile.process_count = 0;
    talk.profile.loop_count = 0;
    text = metrics_of(&talk);
    assert_true(value_of(text, stalls) == 1);
    assert_true(value_of(text, samples) == 40);
    assert_true(value_of(text, lost) == 7);
    assert_line(text, "isoscope_process_up{process=\"spin\"} 0");
    free(text);
    talk.profile.process_count = 1;
    talk.profile.processes[0].id = 10000100;
    talk.profile.processes[0].samples = 3;
    text = metrics_of(&talk);
    assert_true(value_of(text, samples) == 43);
    end(&talk, text);
}

/* Workers of a server have one name. */
static void loops_of_equal_names_are_one(void **state)
{
    struct loop_info workers[2] = {
        { .number = 1, .process_id = 100, .name = "w", .thread_name = "w" },
        { .number = 2, .process_id = 100, .name = "w", .thread_name = "w" }
    };
    struct talk talk;
    char *text;

    (void)state;
    begin(&talk);
    workers[0].causes[STALL_CAUSE_BUSY] = 2;
    workers[1].causes[STALL_CAUSE_BUSY] = 3;
    talk.profile.loops = workers;
    talk.profile.loop_count = 2;
    text = metrics_of(&talk);
    assert_line(text,
                "isoscope_stalls_total{process=\"spin\",loop=\"w\",thread=\"w\",cause=\"busy\"} 5");
    assert_int_equal(count_lines(text, "isoscope_loop_delay_seconds_count{"), 1);
    end(&talk, text);
}

static void names_beyond_the_bounds_are_others(void **state)
{
    static struct loop_info loops[LOOPS_MANY];
    static char names[LOOPS_MANY][16];
    struct talk talk;
    char *text;

    (void)state;
    begin(&talk);
    for (int i = 0; i < LOOPS_MANY; i++) {
        snprintf(names[i], sizeof(names[i]), "loop %d", i);
        loops[i] = (struct loop_info){
            .number = (uint32_t)i + 1, .process_id = 100, .name = names[i], .thread_name = "t"
        };
        loops[i].dismissed = 1;
    }
    talk.profile.loops = loops;
    talk.profile.loop_count = LOOPS_MANY;
    for (size_t i = 0; i < FAKE_PROCESSES_MAX; i++) {
        talk.profile.processes[i] = talk.profile.processes[0];
        talk.profile.processes[i].id = 100 + i;
        talk.profile.processes[i].samples = 1;
        talk.profile.processes[i].evicted = 0;
        snprintf(talk.profile.processes[i].name, sizeof(talk.profile.processes[i].name), "p%zu", i);
    }
    talk.profile.process_count = FAKE_PROCESSES_MAX;
    text = metrics_of(&talk);
    assert_int_equal(count_lines(text, "isoscope_samples_total{"), 101);
    assert_line(text, "isoscope_samples_total{process=\"other\"} 28");
    assert_int_equal(count_lines(text, "isoscope_stalls_dismissed_total{"), 201);
    assert_line(text, "isoscope_stalls_dismissed_total{process=\"other\",loop=\"other\","
                      "thread=\"other\"} 100");
    end(&talk, text);
}

/* 10 ms and 60 ms: three are dropped behind the second. */
static void frames_are_counted_by_what_was_dropped_behind_them(void **state)
{
    struct talk talk;
    char *text;

    (void)state;
    begin(&talk);
    fake_events(&talk.profile);
    text = metrics_of(&talk);
    assert_line(text, "# TYPE isoscope_frames_total counter");
    assert_line(text, "isoscope_frames_total{process=\"spin\",frame=\"frame\",level=\"best\"} 1");
    assert_line(text, "isoscope_frames_total{process=\"spin\",frame=\"frame\",level=\"normal\"} 1");
    assert_line(text, "isoscope_frames_total{process=\"spin\",frame=\"frame\",level=\"frozen\"} 0");
    assert_line(text, "isoscope_frames_dropped_total{process=\"spin\",frame=\"frame\"} 3");
    assert_line(
        text, "isoscope_frame_seconds_bucket{process=\"spin\",frame=\"frame\",le=\"0.016384\"} 1");
    assert_line(
        text, "isoscope_frame_seconds_bucket{process=\"spin\",frame=\"frame\",le=\"0.065536\"} 2");
    assert_line(text, "isoscope_frame_seconds_sum{process=\"spin\",frame=\"frame\"} 0.070000000");
    free(text);
    /* Each is counted once, and stays when the timeline is cleared. */
    text = metrics_of(&talk);
    assert_line(text, "isoscope_frame_seconds_count{process=\"spin\",frame=\"frame\"} 2");
    free(text);
    talk.profile.event_count = 0;
    talk.profile.event_clears++;
    text = metrics_of(&talk);
    assert_line(text, "isoscope_frame_seconds_count{process=\"spin\",frame=\"frame\"} 2");
    end(&talk, text);
}

static void frames_of_the_last_second_are_the_rate(void **state)
{
    static const struct timeline_event frames[] = {
        { .kind = TIMELINE_FRAME, .process_id = 100, .name = "old", .stream = "Embedder" },
        { .kind = TIMELINE_FRAME, .process_id = 100, .name = "now", .stream = "Embedder" },
    };
    struct timeline_event script[3] = { frames[0], frames[1], frames[1] };
    struct talk talk;
    char *text;

    (void)state;
    begin(&talk);
    script[0].start_ns = (fake_monotonic_us() - 1000001) * 1000;
    script[1].start_ns = (fake_monotonic_us() - 900000) * 1000;
    script[2].start_ns = fake_monotonic_us() * 1000;
    talk.profile.events = script;
    talk.profile.event_count = 3;
    text = metrics_of(&talk);
    assert_line(text, "isoscope_frames_per_second{process=\"spin\",frame=\"old\"} 0");
    assert_line(text, "isoscope_frames_per_second{process=\"spin\",frame=\"now\"} 2");
    end(&talk, text);
}

static void names_of_frames_beyond_the_bound_are_others(void **state)
{
    enum { MANY = 130 };
    static struct timeline_event script[MANY];
    static char names[MANY][8];
    struct talk talk;
    char *text;

    (void)state;
    begin(&talk);
    for (int i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof(names[i]), "f%d", i);
        script[i] = (struct timeline_event){
            .kind = TIMELINE_FRAME, .process_id = 100, .name = names[i], .stream = "Embedder"
        };
    }
    talk.profile.events = script;
    talk.profile.event_count = MANY;
    text = metrics_of(&talk);
    assert_int_equal(count_lines(text, "isoscope_frames_dropped_total{"), 101);
    assert_line(text, "isoscope_frame_seconds_count{process=\"other\",frame=\"other\"} 30");
    end(&talk, text);
}

/* A name's lines stand together behind its HELP and TYPE, and no series comes twice. */
static void every_line_is_as_the_format_has_it(void **state)
{
    char name[128] = "", *line, *rest, *text, *lines[4096];
    struct talk talk;
    size_t count = 0;

    (void)state;
    begin(&talk);
    fake_loops(&talk.profile);
    fake_events(&talk.profile);
    text = metrics_of(&talk);
    assert_int_equal(text[strlen(text) - 1], '\n');
    for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        assert_in_range(count, 0, 4095);
        if (sscanf(line, "# HELP %127s", name) == 1) {
            line = strtok_r(NULL, "\n", &rest);
            assert_int_equal(strncmp(line + strlen("# TYPE "), name, strlen(name)), 0);
            continue;
        }
        assert_int_equal(strncmp(line, name, strlen(name)), 0);
        assert_non_null(strrchr(line, ' '));
        assert_true(isdigit((unsigned char)strrchr(line, ' ')[1]));
        *strrchr(line, ' ') = '\0';
        for (size_t i = 0; i < count; i++)
            assert_string_not_equal(lines[i], line);
        lines[count++] = line;
    }
    assert_in_range(count, 100, 4095);
    end(&talk, text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stalls_are_counted_by_loop_and_cause),
        cmocka_unit_test(histograms_are_cumulative),
        cmocka_unit_test(the_service_and_its_sampling_are_told),
        cmocka_unit_test(labels_take_any_bytes),
        cmocka_unit_test(counters_do_not_fall_when_a_process_or_a_loop_is_forgotten),
        cmocka_unit_test(loops_of_equal_names_are_one),
        cmocka_unit_test(names_beyond_the_bounds_are_others),
        cmocka_unit_test(frames_are_counted_by_what_was_dropped_behind_them),
        cmocka_unit_test(frames_of_the_last_second_are_the_rate),
        cmocka_unit_test(names_of_frames_beyond_the_bound_are_others),
        cmocka_unit_test(every_line_is_as_the_format_has_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
