#include "sampler/profile/snapshot.h"

#include "profile_fixture.h"
#include "sampler/include/isoscope/isoscope.h"
#include "sampler/profile/parts.h"
#include "sampler/profile/address_symbolizer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static uint64_t attach(struct fixture *fixture, const struct fake_feed *feed, int32_t pid)
{
    uint64_t id = fixture_attach_feed(fixture, feed, pid);

    assert_int_not_equal(id, 0);
    return id;
}

static int open_fixture(void **state)
{
    *state = fixture_begin(NULL);
    return fixture_attach(*state);
}

static int close_fixture(void **state)
{
    return fixture_end(*state);
}

/* A sample of the fixture's thread; frames are offsets in its module, leaf first. */
#define SAMPLE(fixture, time_us, ...)                                                              \
    sample(fixture, time_us, (const uint64_t[]){ __VA_ARGS__ },                                    \
           sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static void sample(struct fixture *fixture, int64_t time_us, const uint64_t *offsets, size_t depth)
{
    uint64_t frames[64];

    for (size_t i = 0; i < depth; i++)
        frames[i] = FEED_FRAME(fixture->module, offsets[i]);
    assert_true(fake_feed_write(&fixture->feed, fixture->slot,
                                &(struct fake_sample){ .timestamp_us = time_us,
                                                       .cpu_ns = 1000000,
                                                       .depth = (uint16_t)depth,
                                                       .frames = frames }));
}

static struct snapshot *take(struct fixture *fixture, struct snapshot_window window)
{
    struct snapshot *snapshot = NULL;

    profile_sync(fixture->profile);
    assert_int_equal(snapshot_take(&snapshot, fixture->profile, &window), 0);
    return snapshot;
}

/* One sample with the tag; frames as they are in the feed. */
static void tagged(struct fixture *fixture, int64_t time_us, const char *tag, uint64_t frame)
{
    uint32_t place = feed_writer_name(&fixture->feed.writer, tag);

    assert_true(
        fake_feed_write(&fixture->feed, fixture->slot,
                        &(struct fake_sample){
                            .timestamp_us = time_us, .tag = place, .depth = 1, .frames = &frame }));
}

static struct snapshot *take_all(struct fixture *fixture)
{
    return take(fixture, (struct snapshot_window){ 0 });
}

/* The function of a sample's frame. */
static uint32_t function_at(const struct snapshot *snapshot, const struct snapshot_sample *sample,
                            uint32_t frame)
{
    uint32_t count;

    return snapshot_frames(snapshot, &count)[sample->frames[frame]].function;
}

/* NULL: there is none. */
static const struct snapshot_function *seek(const struct snapshot *snapshot, const char *name)
{
    const struct snapshot_function *functions;
    uint32_t count;

    functions = snapshot_functions(snapshot, &count);
    for (uint32_t i = 0; i < count; i++)
        if (!strcmp(functions[i].name, name))
            return &functions[i];
    return NULL;
}

static const struct snapshot_function *find(const struct snapshot *snapshot, const char *name)
{
    const struct snapshot_function *function = seek(snapshot, name);

    if (!function)
        fail_msg("no function %s", name);
    return function;
}

static void a_sample_says_what_the_program_wrote(void **state)
{
    struct fixture *fixture = *state;
    uint64_t frames[] = { FEED_FRAME(fixture->module, B), FEED_FRAME(fixture->module, A + 5) };
    CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
    const struct snapshot_function *functions;
    struct snapshot_sample got;
    uint32_t cursor = 0, count;

    fake_feed_write(&fixture->feed, fixture->slot,
                    &(struct fake_sample){ .timestamp_us = 1234,
                                           .cpu_ns = 998000,
                                           .end = FEED_END_NO_ROW,
                                           .state = 2,
                                           .depth = 2,
                                           .frames = frames });
    snapshot = take_all(fixture);
    functions = snapshot_functions(snapshot, &count);
    assert_int_equal(count, 2);
    assert_true(snapshot_next(snapshot, &cursor, &got));
    assert_int_equal(got.timestamp_us, 1234);
    assert_int_equal(got.tid, 7);
    assert_string_equal(got.thread_name, "main");
    assert_int_equal(got.weight, 998000);
    assert_int_equal(got.end, FEED_END_NO_ROW);
    assert_int_equal(got.state, 2);
    assert_int_equal(got.depth, 2);
    assert_string_equal(functions[function_at(snapshot, &got, 0)].name, "b");
    assert_string_equal(functions[function_at(snapshot, &got, 1)].name, "a");
    assert_false(snapshot_next(snapshot, &cursor, &got));
}

/* Two pcs of one symbol are one function; ids are made of what stays the same. */
static void a_function_is_a_symbol_with_a_stable_id(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
    CLEANUP(snapshot_freep) struct snapshot *later = NULL;
    const struct snapshot_function *a;
    const struct snapshot_library *libraries;
    uint32_t count;

    SAMPLE(fixture, 1, A + 4, A + 9);
    SAMPLE(fixture, 2, A + 20, UNNAMED);
    snapshot = take_all(fixture);
    snapshot_functions(snapshot, &count);
    assert_int_equal(count, 2);
    a = find(snapshot, "a");
    assert_string_equal(a->raw_name, "_Z1av");
    assert_string_equal(a->id, "functions/1/1000");
    libraries = snapshot_libraries(snapshot, &count);
    assert_int_equal(count, 1);
    assert_string_equal(libraries[a->library].id, "libraries/1");
    assert_string_equal(libraries[a->library].path, fixture->path);
    assert_string_equal(libraries[a->library].name, "app");
    assert_false(libraries[a->library].system);
    later = take(fixture, (struct snapshot_window){ .bounded = true, .origin_us = 2 });
    assert_string_equal(find(later, "a")->id, a->id);
}

static uint64_t offset_at(const struct snapshot *snapshot, const struct snapshot_sample *sample,
                          uint32_t frame)
{
    uint32_t count;

    return snapshot_frames(snapshot, &count)[sample->frames[frame]].offset;
}

/* Two pcs of one function are two frames. */
static void a_frame_tells_where_it_was(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
    struct snapshot_sample got;
    uint32_t cursor = 0;

    SAMPLE(fixture, 1, A + 4, A + 9);
    FAKE_SAMPLE(&fixture->feed, fixture->slot, 2, FEED_FRAME(0, 0x7f0000001000), FEED_FRAME_GAP);
    snapshot = take_all(fixture);
    assert_true(snapshot_next(snapshot, &cursor, &got));
    assert_int_equal(offset_at(snapshot, &got, 0), A + 4);
    assert_int_equal(offset_at(snapshot, &got, 1), A + 9);
    assert_true(snapshot_next(snapshot, &cursor, &got));
    assert_int_equal(offset_at(snapshot, &got, 0), 0x7f0000001000);
    assert_true(offset_at(snapshot, &got, 1) == SNAPSHOT_NO_OFFSET);
    assert_int_equal(find(snapshot, "a")->offset, A);
    assert_int_equal(find(snapshot, "a")->size, 0x100);
}

static void code_without_a_symbol_is_named_by_its_offset(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
    const struct snapshot_function *unnamed;

    SAMPLE(fixture, 1, UNNAMED + 1, UNNAMED + 2);
    FAKE_SAMPLE(&fixture->feed, fixture->slot, 2, FEED_FRAME(0, 0x7f0000001000));
    snapshot = take_all(fixture);
    unnamed = find(snapshot, "app+0x1801");
    assert_string_equal(unnamed->raw_name, unnamed->name);
    assert_string_equal(unnamed->id, "functions/1/1801");
    assert_int_equal(find(snapshot, "app+0x1802")->inclusive, 1);
    assert_string_equal(find(snapshot, "[unknown]+0x7f0000001000")->id, "functions/0/7f0000001000");
}

/* a calls itself three times: one sample is one sample. */
static void a_recursive_function_counts_once_for_each_sample(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;

    SAMPLE(fixture, 1, A, A + 8, A + 8, B);
    SAMPLE(fixture, 2, A, A + 8, A + 8, B);
    SAMPLE(fixture, 3, B, A + 8, B);
    SAMPLE(fixture, 4, UNNAMED);
    snapshot = take_all(fixture);
    assert_int_equal(find(snapshot, "a")->inclusive, 3);
    assert_int_equal(find(snapshot, "a")->exclusive, 2);
    assert_int_equal(find(snapshot, "b")->inclusive, 3);
    assert_int_equal(find(snapshot, "b")->exclusive, 1);
    assert_int_equal(find(snapshot, "app+0x1800")->inclusive, 1);
    assert_int_equal(find(snapshot, "app+0x1800")->exclusive, 1);
}

static void both_ends_of_a_window_belong_to_it(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;

    for (int64_t time_us = 10; time_us <= 50; time_us += 10)
        SAMPLE(fixture, time_us, A);
    snapshot = take(fixture,
                    (struct snapshot_window){ .bounded = true, .origin_us = 20, .extent_us = 20 });
    assert_int_equal(snapshot_sample_count(snapshot), 3);
    assert_int_equal(snapshot_first_us(snapshot), 20);
    assert_int_equal(snapshot_last_us(snapshot), 40);
    assert_int_equal(find(snapshot, "a")->inclusive, 3);
}

static void windows_beside_all_samples_are_empty(void **state)
{
    static const struct snapshot_window windows[] = {
        { .bounded = true, .origin_us = 0, .extent_us = 9 },
        { .bounded = true, .origin_us = 11, .extent_us = INT64_MAX },
        { .bounded = true, .origin_us = 10, .extent_us = -1 },
        { .bounded = true, .origin_us = INT64_MIN, .extent_us = 0 },
        { .bounded = true, .origin_us = INT64_MAX, .extent_us = INT64_MAX },
    };
    struct fixture *fixture = *state;

    SAMPLE(fixture, 10, A);
    for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
        CLEANUP(snapshot_freep) struct snapshot *snapshot = take(fixture, windows[i]);
        uint32_t count, cursor = 0;
        struct snapshot_sample got;

        assert_int_equal(snapshot_sample_count(snapshot), 0);
        assert_int_equal(snapshot_first_us(snapshot), 0);
        assert_int_equal(snapshot_last_us(snapshot), 0);
        assert_false(snapshot_next(snapshot, &cursor, &got));
        snapshot_functions(snapshot, &count);
        assert_int_equal(count, 0);
        snapshot_libraries(snapshot, &count);
        assert_int_equal(count, 0);
    }
}

static void a_count_takes_the_oldest(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;

    SAMPLE(fixture, 1, A);
    SAMPLE(fixture, 2, A);
    SAMPLE(fixture, 3, B);
    snapshot = take(fixture, (struct snapshot_window){ .count_max = 2 });
    assert_int_equal(snapshot_sample_count(snapshot), 2);
    assert_int_equal(snapshot_last_us(snapshot), 2);
    assert_int_equal(find(snapshot, "a")->inclusive, 2);
}

/* A handler that was interrupted commits its sample after younger ones were read. */
static void samples_that_came_late_are_in_the_order_of_time(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
    struct snapshot_sample got;
    uint32_t cursor = 0;
    int64_t before_us = -1;

    for (int64_t i = 0; i < 200; i++) {
        SAMPLE(fixture, i % 2 ? 1000 - i : i, A);
        profile_sync(fixture->profile);
    }
    snapshot = take_all(fixture);
    for (uint32_t i = 0; i < 200; i++) {
        assert_true(snapshot_next(snapshot, &cursor, &got));
        assert_true(got.timestamp_us > before_us);
        before_us = got.timestamp_us;
    }
}

static void a_window_may_hold_one_process_or_all(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(snapshot_freep) struct snapshot *one = NULL;
    CLEANUP(snapshot_freep) struct snapshot *all = NULL;
    CLEANUP(fake_feed_close) struct fake_feed other;
    struct snapshot *none = NULL;
    struct snapshot_window nobody = { .process_id = 999999999 };
    uint64_t other_id;

    fake_feed_open(&other, getppid());
    other_id = attach(fixture, &other, getppid());
    FAKE_SAMPLE(&other, fake_feed_thread(&other, 8, "other"), 5, FEED_FRAME(0, 0x10));
    SAMPLE(fixture, 6, A);
    one = take(fixture, (struct snapshot_window){ .process_id = other_id });
    assert_int_equal(snapshot_sample_count(one), 1);
    assert_int_equal(snapshot_first_us(one), 5);
    all = take_all(fixture);
    assert_int_equal(snapshot_sample_count(all), 2);
    assert_int_equal(snapshot_take(&none, fixture->profile, &nobody), -ISOSCOPE_NOT_FOUND);
    assert_null(none);
}

static void clearing_one_process_leaves_the_others_samples(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(snapshot_freep) struct snapshot *before = NULL;
    CLEANUP(snapshot_freep) struct snapshot *after = NULL;
    CLEANUP(fake_feed_close) struct fake_feed other;
    struct process_info info;
    uint32_t cursor = 0;
    struct snapshot_sample got;

    fake_feed_open(&other, getppid());
    attach(fixture, &other, getppid());
    FAKE_SAMPLE(&other, fake_feed_thread(&other, 8, "other"), 5, FEED_FRAME(0, 0x10));
    SAMPLE(fixture, 6, A);
    before = take_all(fixture);
    SAMPLE(fixture, 7, A); /* still in its ring */
    profile_clear(fixture->profile, fixture->id);
    SAMPLE(fixture, 8, B);
    after = take_all(fixture);
    assert_int_equal(snapshot_sample_count(after), 2);
    assert_true(snapshot_next(after, &cursor, &got));
    assert_int_equal(got.timestamp_us, 5);
    assert_true(snapshot_next(after, &cursor, &got));
    assert_int_equal(got.timestamp_us, 8);
    assert_true(profile_process(fixture->profile, fixture->id, &info));
    assert_int_equal(info.samples, 1);
    /* What was taken before still shows what it showed. */
    assert_int_equal(snapshot_sample_count(before), 2);
    profile_clear(fixture->profile, 0);
    snapshot_free(after);
    after = take_all(fixture);
    assert_int_equal(snapshot_sample_count(after), 0);
}

static void a_threads_window_has_its_samples_alone(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
    struct snapshot_window window = { .process_id = fixture->id, .tid = 8 };
    struct snapshot_sample got;
    uint32_t cursor = 0;

    SAMPLE(fixture, 4, A);
    FAKE_SAMPLE(&fixture->feed, fake_feed_thread(&fixture->feed, 8, "worker"), 5,
                FEED_FRAME(0, 0x10));
    profile_sync(fixture->profile);
    assert_int_equal(snapshot_take(&snapshot, fixture->profile, &window), 0);
    assert_int_equal(snapshot_sample_count(snapshot), 1);
    assert_true(snapshot_next(snapshot, &cursor, &got));
    assert_int_equal(got.tid, 8);
    profile_clear_thread(fixture->profile, fixture->id, 8);
    snapshot_free(snapshot);
    assert_int_equal(snapshot_take(&snapshot, fixture->profile, &window), 0);
    assert_int_equal(snapshot_sample_count(snapshot), 0);
    window.tid = 0;
    snapshot_free(snapshot);
    assert_int_equal(snapshot_take(&snapshot, fixture->profile, &window), 0);
    assert_int_equal(snapshot_sample_count(snapshot), 1);
}

static void a_snapshot_outlives_its_samples_in_the_store(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
    struct snapshot_sample got;
    uint32_t cursor = 0, count;

    SAMPLE(fixture, 1, A, B);
    snapshot = take_all(fixture);
    profile_clear(fixture->profile, 0);
    fake_feed_rename(&fixture->feed, fixture->slot, "renamed");
    profile_sync(fixture->profile);
    assert_true(snapshot_next(snapshot, &cursor, &got));
    assert_string_equal(got.thread_name, "main");
    assert_int_equal(got.depth, 2);
    assert_string_equal(snapshot_functions(snapshot, &count)[function_at(snapshot, &got, 1)].name,
                        "b");
}

static void the_deepest_stack_comes_through_whole(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
    uint64_t frames[FEED_DEPTH_MAX];
    struct snapshot_sample got;
    uint32_t cursor = 0, count;

    for (uint32_t i = 0; i < FEED_DEPTH_MAX; i++)
        frames[i] = FEED_FRAME(0, 0x7f0000001000 + i);
    fake_feed_write(
        &fixture->feed, fixture->slot,
        &(struct fake_sample){ .timestamp_us = 1, .depth = FEED_DEPTH_MAX, .frames = frames });
    snapshot = take_all(fixture);
    assert_true(snapshot_next(snapshot, &cursor, &got));
    assert_int_equal(got.depth, FEED_DEPTH_MAX);
    assert_string_equal(
        snapshot_functions(snapshot, &count)[function_at(snapshot, &got, FEED_DEPTH_MAX - 1)].name,
        "[unknown]+0x7f00000013ff");
}

/* Code that the program met before it knew the module is named when the module is known by then. */
static void a_bare_pc_finds_its_module_later(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
    uint64_t frames[2] = { FEED_FRAME(0, 0x2345), FEED_FRAME_GAP };
    struct snapshot_sample got;
    uint32_t cursor = 0, count;

    fake_feed_write(&fixture->feed, fixture->slot,
                    &(struct fake_sample){ .timestamp_us = 1, .depth = 2, .frames = frames });
    snapshot = take_all(fixture);
    assert_true(snapshot_next(snapshot, &cursor, &got));
    assert_string_equal(
        snapshot_libraries(
            snapshot,
            &count)[snapshot_functions(snapshot, &count)[function_at(snapshot, &got, 0)].library]
            .name,
        "app");
    assert_string_equal(snapshot_functions(snapshot, &count)[function_at(snapshot, &got, 1)].name,
                        "[frames left out]");
}

/* A JIT puts another function where one was: each sample keeps the name that held when it came. */
static void jit_code_has_the_name_that_its_perf_map_gave_at_the_time(void **state)
{
    struct fixture *fixture = *state;
    uint64_t pc = 0x7e0000001234;
    char path[64];
    CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
    const struct snapshot_library *libraries;
    FILE *file;
    uint32_t count;

    snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
    file = fopen(path, "w");
    assert_non_null(file);
    setvbuf(file, NULL, _IOLBF, 0);
    fputs("7e0000001000 1000 JS:*first\n", file);
    tagged(fixture, 1, "", pc);
    profile_sync(fixture->profile);
    fputs("7e0000001200 100 JS:*second\n", file);
    for (int64_t time_us = 2; !snapshot || !seek(snapshot, "JS:*second"); time_us++) {
        snapshot_free(snapshot);
        tagged(fixture, time_us, "", pc);
        snapshot = take_all(fixture);
    }
    assert_true(find(snapshot, "JS:*first")->exclusive >= 1);
    assert_int_equal(find(snapshot, "JS:*second")->exclusive, 1);
    libraries = snapshot_libraries(snapshot, &count);
    assert_string_equal(libraries[find(snapshot, "JS:*first")->library].name, "[jit]");
    fclose(file);
    unlink(path);
}

static void ask(struct fixture *fixture, uint32_t period_us, uint32_t depth_max)
{
    struct feed_settings settings = profile_settings(fixture->profile);

    settings.period_us = period_us;
    settings.depth_max = depth_max;
    profile_apply_settings(fixture->profile, &settings);
}

static void a_snapshot_knows_the_asked_period_and_depth(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;

    assert_int_equal(profile_settings(fixture->profile).period_us, FEED_PERIOD_DEFAULT_US);
    assert_int_equal(profile_settings(fixture->profile).depth_max, FEED_DEPTH_DEFAULT);
    ask(fixture, 1, 1);
    assert_int_equal(profile_settings(fixture->profile).period_us, FEED_PERIOD_MIN_US);
    assert_int_equal(profile_settings(fixture->profile).depth_max, FEED_DEPTH_MIN);
    ask(fixture, UINT32_MAX, UINT32_MAX);
    assert_int_equal(profile_settings(fixture->profile).period_us, FEED_PERIOD_MAX_US);
    assert_int_equal(profile_settings(fixture->profile).depth_max, FEED_DEPTH_MAX);
    ask(fixture, 250, 300);
    snapshot = take_all(fixture);
    assert_int_equal(snapshot_period_us(snapshot), 250);
    assert_int_equal(snapshot_depth_max(snapshot), 300);
}

/* Also when a thread has many of them and changes between them. */
static void each_sample_has_the_tag_it_was_taken_under(void **state)
{
    struct fixture *fixture = *state;
    static const char *const tags[] = { "", "parse", "send", "parse", "", "send", "wait", "parse" };
    CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
    struct snapshot_sample got;
    uint32_t cursor = 0;

    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 8; i++)
            tagged(fixture, 10 * round + i, tags[i], FEED_FRAME(fixture->module, A));
    snapshot = take_all(fixture);
    for (int i = 0; i < 24; i++) {
        assert_true(snapshot_next(snapshot, &cursor, &got));
        assert_string_equal(got.tag ? got.tag : "", tags[i % 8]);
        assert_string_equal(got.thread_name, "main");
        assert_int_equal(got.tid, 7);
    }
}

static void a_window_may_hold_the_samples_of_some_tags_alone(void **state)
{
    struct fixture *fixture = *state;
    static const char *const tags[] = { "send", "main", "nobody", NULL };
    struct snapshot_window window = { .process_id = fixture->id, .user_tags = tags };
    CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
    struct snapshot_sample got;
    uint32_t cursor = 0;

    tagged(fixture, 1, "parse", FEED_FRAME(fixture->module, A));
    tagged(fixture, 2, "send", FEED_FRAME(fixture->module, B));
    tagged(fixture, 3, "", FEED_FRAME(fixture->module, B)); /* by its thread's name: "main" */
    tagged(fixture, 4, "sen", FEED_FRAME(fixture->module, A));
    profile_sync(fixture->profile);
    snapshot = take(fixture, window);
    assert_int_equal(snapshot_sample_count(snapshot), 2);
    assert_true(snapshot_next(snapshot, &cursor, &got));
    assert_int_equal(got.timestamp_us, 2);
    assert_string_equal(got.tag, "send");
    assert_true(snapshot_next(snapshot, &cursor, &got));
    assert_int_equal(got.timestamp_us, 3);
    assert_false(snapshot_next(snapshot, &cursor, &got));
}

/* In the order of arrival, however late a sample is by its own time. */
static void who_reads_on_from_a_cursor_gets_each_sample_once(void **state)
{
    struct fixture *fixture = *state;
    struct snapshot_cursor since = { 0 };
    struct snapshot_window window = { .since = &since, .count_max = 2 };
    static const uint32_t counts[] = { 2, 1, 0 };

    SAMPLE(fixture, 10, A);
    SAMPLE(fixture, 20, A);
    SAMPLE(fixture, 30, B);
    profile_sync(fixture->profile);
    for (int i = 0; i < 3; i++) {
        CLEANUP(snapshot_freep) struct snapshot *snapshot = take(fixture, window);

        assert_int_equal(snapshot_sample_count(snapshot), counts[i]);
        since = snapshot_cursor(snapshot);
    }
    SAMPLE(fixture, 5, B);
    profile_sync(fixture->profile);
    {
        CLEANUP(snapshot_freep) struct snapshot *snapshot = take(fixture, window);

        assert_int_equal(snapshot_sample_count(snapshot), 1);
        assert_int_equal(snapshot_first_us(snapshot), 5);
        since = snapshot_cursor(snapshot);
    }
    profile_clear(fixture->profile, 0);
    SAMPLE(fixture, 50, A);
    profile_sync(fixture->profile);
    {
        CLEANUP(snapshot_freep) struct snapshot *snapshot = take(fixture, window);

        assert_int_equal(snapshot_sample_count(snapshot), 1);
        assert_int_equal(snapshot_first_us(snapshot), 50);
    }
}

static void note_tag(void *context, const char *user_tag)
{
    char *text = context;

    strcat(strcat(text, user_tag), " ");
}

static void tags_and_states_are_those_of_the_samples_in_the_store(void **state)
{
    struct fixture *fixture = *state;
    uint64_t counts[FEED_STATE_COUNT + 1];
    char text[64] = "";

    tagged(fixture, 1, "parse", FEED_FRAME(fixture->module, A));
    tagged(fixture, 2, "", FEED_FRAME(fixture->module, A));
    tagged(fixture, 3, "parse", FEED_FRAME(fixture->module, A));
    FAKE_SAMPLE(&fixture->feed, fake_feed_thread(&fixture->feed, 8, "worker"), 5,
                FEED_FRAME(0, 0x10));
    profile_sync(fixture->profile);
    assert_int_equal(profile_user_tags(fixture->profile, note_tag, text), 0);
    assert_string_equal(text, "parse main worker ");
    assert_int_equal(profile_states(fixture->profile, fixture->id, 0, counts), 0);
    assert_int_equal(counts[FEED_STATE_RUNNING], 4);
    assert_int_equal(counts[FEED_STATE_SLEEP], 0);
    assert_int_equal(profile_states(fixture->profile, fixture->id, 8, counts), 0);
    assert_int_equal(counts[FEED_STATE_RUNNING], 1);
    assert_int_equal(profile_states(fixture->profile, 999999999, 0, counts), -ISOSCOPE_NOT_FOUND);
    profile_clear(fixture->profile, 0);
    text[0] = '\0';
    assert_int_equal(profile_user_tags(fixture->profile, note_tag, text), 0);
    assert_string_equal(text, "");
    assert_int_equal(profile_states(fixture->profile, fixture->id, 0, counts), 0);
    assert_int_equal(counts[FEED_STATE_RUNNING], 0);
}

/* Many batches of a window, and chunks that overlap as much as they can: each time in turn is put
 * far from the one before it. */
static void samples_come_in_order_however_they_were_stored(void **state)
{
    enum { COUNT = 100003, STRIDE = 40009 }; /* no common divisor: each time is met once */
    struct fixture *fixture = *state;
    const uint64_t frames[] = { FRAME_KEY(0, A) }; /* in no module */
    CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL, *half = NULL;
    struct owner_thread *thread;
    struct snapshot_sample got;
    struct owner *owner;
    uint32_t cursor = 0;

    assert_int_equal(owner_new(&owner, fixture->id), 0);
    assert_int_equal(owner_thread_new(&thread, owner, 7, "main"), 0);
    for (uint64_t i = 0; i < COUNT; i++)
        assert_int_equal(store_add(fixture->profile->stores.of[SAMPLES_OF_TIME],
                                   &(struct store_sample){ .thread = thread,
                                                           .timestamp_us = i * STRIDE % COUNT,
                                                           .depth = 1,
                                                           .frames = frames }),
                         0);
    snapshot = take_all(fixture);
    assert_int_equal(snapshot_sample_count(snapshot), COUNT);
    assert_int_equal(snapshot_last_us(snapshot), COUNT - 1);
    for (int64_t i = 0; i < COUNT; i++) {
        assert_true(snapshot_next(snapshot, &cursor, &got));
        assert_int_equal(got.timestamp_us, i);
    }
    assert_false(snapshot_next(snapshot, &cursor, &got));
    cursor = 20000; /* back again */
    assert_true(snapshot_next(snapshot, &cursor, &got));
    assert_int_equal(got.timestamp_us, 20000);
    half = take(fixture, (struct snapshot_window){ .count_max = 50000 });
    assert_int_equal(snapshot_sample_count(half), 50000);
    assert_int_equal(snapshot_last_us(half), 49999);
    cursor = 50000;
    assert_false(snapshot_next(half, &cursor, &got));
    owner_thread_release(thread);
    owner_release(owner);
}

static void a_tag_that_lies_outside_the_names_is_none(void **state)
{
    struct fixture *fixture = *state;
    uint64_t frame = FEED_FRAME(fixture->module, A);
    struct fake_sample sample = {
        .timestamp_us = 1, .tag = FEED_NAMES_BYTES, .depth = 1, .frames = &frame
    };
    CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
    struct snapshot_sample got;
    uint32_t cursor = 0;

    fake_feed_write(&fixture->feed, fixture->slot, &sample);
    snapshot = take_all(fixture);
    assert_true(snapshot_next(snapshot, &cursor, &got));
    assert_null(got.tag);
}

static void code_without_a_file_has_the_name_it_was_given(void **state)
{
    struct fixture *fixture = *state;
    uint32_t place = feed_writer_name(&fixture->feed.writer, "f1@script.js");
    CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
    const struct snapshot_library *libraries;
    const struct snapshot_function *function;
    uint32_t count;

    tagged(fixture, 1, "", FEED_FRAME_NAMED(FEED_NAME_JIT, place));
    tagged(fixture, 2, "", FEED_FRAME_NAMED(FEED_NAME_JIT, place));
    tagged(fixture, 3, "", FEED_FRAME_NAMED(FEED_NAME_INTERPRETED, place));
    tagged(fixture, 4, "", FEED_FRAME_NAMED(FEED_NAME_JIT, 0));
    tagged(fixture, 5, "", FEED_FRAME_NAMED(FEED_NAME_KIND_COUNT, place));
    snapshot = take_all(fixture);
    libraries = snapshot_libraries(snapshot, &count);
    assert_int_equal(count, 3);
    function = find(snapshot, "f1@script.js");
    assert_string_equal(libraries[function->library].name, "[jit]");
    assert_int_equal(function->exclusive, 2);
    function++;
    assert_string_equal(function->name, "f1@script.js");
    assert_string_equal(libraries[function->library].name, "[interpreted]");
    find(snapshot, "[jit]+0x0");
    assert_string_equal(libraries[2].name, "[unknown]");
}

/* Nothing is named; what another machine needs for it is there, and gives the names it would have
 * had. */
static void without_symbols_offsets_and_build_ids_travel(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(snapshot_freep) struct snapshot *named = NULL;
    struct profile_options options = { .settings.enabled = true, .no_symbols = true };
    struct profile_peer peer = {
        .pid = getpid(), .clock = -1, .faults = -1, .exe = "/usr/bin/program"
    };
    struct snapshot_window all = { 0 };
    const struct snapshot_function *functions;
    struct address_symbolizer *symbolizer;
    struct snapshot *bare = NULL;
    struct profile *other;
    struct symbolized found;
    struct fake_feed feed;
    uint32_t count;

    SAMPLE(fixture, 1, A + 4, B + 9);
    named = take_all(fixture);
    assert_int_equal(profile_new(&other, &options), 0);
    fake_feed_open(&feed, getpid());
    assert_int_equal(profile_attach(other, fake_feed_memfd(&feed), &peer, NULL), 0);
    fake_feed_module(&feed, fixture->path);
    FAKE_SAMPLE(&feed, fake_feed_thread(&feed, 7, "main"), 1, FEED_FRAME(1, A + 4),
                FEED_FRAME(1, B + 9));
    profile_sync(other);
    assert_int_equal(snapshot_take(&bare, other, &all), 0);
    functions = snapshot_functions(bare, &count);
    assert_int_equal(count, 2);
    assert_int_equal(address_symbolizer_new(&symbolizer, false), 0);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(functions[i].kind, SNAPSHOT_UNNAMED);
        assert_int_equal(symbolize_address(symbolizer, snapshot_libraries(bare, &count)->path, "",
                                           functions[i].offset, &found),
                         0);
        assert_int_equal(found.count, 1);
        assert_string_equal(found.frames[0].function.name,
                            snapshot_functions(named, &count)[i].name);
    }
    assert_string_equal(functions[0].name, "app+0x1004");
    assert_int_equal(symbolize_address(symbolizer, "/x", "0g", 1, &found), -ISOSCOPE_INVALID);
    address_symbolizer_free(symbolizer);
    snapshot_free(bare);
    profile_free(other);
    fake_feed_close(&feed);
}

/* Also what no window shows. */
static void objects_are_found_by_their_ids(void **state)
{
    struct fixture *fixture = *state;
    struct snapshot_library library;
    struct profile_function function;

    SAMPLE(fixture, 1, A + 4, UNNAMED);
    snapshot_free(take_all(fixture));
    profile_clear(fixture->profile, 0);
    assert_true(profile_library(fixture->profile, "libraries/1", &library));
    assert_string_equal(library.name, "app");
    assert_true(profile_function(fixture->profile, "functions/1/1000", &function));
    assert_string_equal(function.function.name, "a");
    assert_true(profile_function(fixture->profile, "functions/1/1800", &function));
    assert_string_equal(function.function.name, "app+0x1800");
    assert_false(profile_library(fixture->profile, "libraries/2", &library));
    assert_false(profile_library(fixture->profile, "libraries/1/", &library));
    assert_false(profile_library(fixture->profile, "libraries/99999", &library));
    assert_false(profile_function(fixture->profile, "functions/2/1000", &function));
    assert_false(profile_function(fixture->profile, "functions/1/zz", &function));
    assert_false(profile_function(fixture->profile, "functions/1/i1", &function));
}

int main(void)
{
#define SNAPSHOT_TEST(test) cmocka_unit_test_setup_teardown(test, open_fixture, close_fixture)
    const struct CMUnitTest tests[] = {
        SNAPSHOT_TEST(a_sample_says_what_the_program_wrote),
        SNAPSHOT_TEST(a_function_is_a_symbol_with_a_stable_id),
        SNAPSHOT_TEST(a_frame_tells_where_it_was),
        SNAPSHOT_TEST(code_without_a_symbol_is_named_by_its_offset),
        SNAPSHOT_TEST(a_recursive_function_counts_once_for_each_sample),
        SNAPSHOT_TEST(both_ends_of_a_window_belong_to_it),
        SNAPSHOT_TEST(windows_beside_all_samples_are_empty),
        SNAPSHOT_TEST(a_count_takes_the_oldest),
        SNAPSHOT_TEST(samples_that_came_late_are_in_the_order_of_time),
        SNAPSHOT_TEST(a_window_may_hold_one_process_or_all),
        SNAPSHOT_TEST(clearing_one_process_leaves_the_others_samples),
        SNAPSHOT_TEST(a_threads_window_has_its_samples_alone),
        SNAPSHOT_TEST(a_snapshot_outlives_its_samples_in_the_store),
        SNAPSHOT_TEST(the_deepest_stack_comes_through_whole),
        SNAPSHOT_TEST(a_bare_pc_finds_its_module_later),
        SNAPSHOT_TEST(jit_code_has_the_name_that_its_perf_map_gave_at_the_time),
        SNAPSHOT_TEST(a_snapshot_knows_the_asked_period_and_depth),
        SNAPSHOT_TEST(each_sample_has_the_tag_it_was_taken_under),
        SNAPSHOT_TEST(a_window_may_hold_the_samples_of_some_tags_alone),
        SNAPSHOT_TEST(who_reads_on_from_a_cursor_gets_each_sample_once),
        SNAPSHOT_TEST(tags_and_states_are_those_of_the_samples_in_the_store),
        SNAPSHOT_TEST(samples_come_in_order_however_they_were_stored),
        SNAPSHOT_TEST(a_tag_that_lies_outside_the_names_is_none),
        SNAPSHOT_TEST(code_without_a_file_has_the_name_it_was_given),
        SNAPSHOT_TEST(without_symbols_offsets_and_build_ids_travel),
        SNAPSHOT_TEST(objects_are_found_by_their_ids),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
