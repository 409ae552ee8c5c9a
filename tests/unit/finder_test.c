#include "sampler/profile/runtimes/finder.h"

#include "fake_module.h"
#include "fake_feed.h"
#include "sampler/feed/feed_reader.h"
#include "sampler/profile/runtimes/runtime_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* A kind of the test's own, whose finder says what the test wants. */
static enum runtime_found answer;
static int asked;

static enum runtime_found find_it(const struct runtime_module *module, struct feed_runtime *out,
                                  const char **reason)
{
    uint64_t vaddr;

    asked++;
    assert_int_equal(module->pid, getpid());
    assert_true(runtime_file_symbol(module->file, "the_loop", &vaddr, NULL));
    out->version = 0x030f00a1;
    out->range_count = 1;
    out->ranges[0] = (struct feed_runtime_range){ .start = module->bias + vaddr,
                                                  .end = module->bias + vaddr + 16 };
    *reason = "not known to this isoscope";
    return answer;
}

static const struct runtime_kind kinds[] = {
    { find_it, FEED_RUNTIME_CPYTHON, "the_loop", { "module" } },
    { NULL, FEED_RUNTIME_OTHER, NULL, { NULL } },
};

struct scene {
    struct runtime_finder *finder;
    struct runtime_looks looks;
    struct fake_feed feed;
    struct feed_reader *reader;
    uint32_t outside; /* modules that are seen from outside */
};

static void write_module(const char *symbol, uint8_t id)
{
    struct fake_elf elf = { .symbols = { { symbol, 0x1010, 0x10, STB_GLOBAL, STT_FUNC } },
                            .build_id = { id, 1 } };

    fake_elf_write(path, &elf);
}

static void open_scene(struct scene *scene, enum runtime_found says)
{
    *scene = (struct scene){ 0 };
    answer = says;
    asked = 0;
    assert_int_equal(runtime_finder_new(&scene->finder, kinds), 0);
    fake_feed_open(&scene->feed, getpid());
    assert_int_equal(feed_reader_open(&scene->reader, fake_feed_memfd(&scene->feed)), 0);
}

static void close_scene(struct scene *scene)
{
    runtime_finder_free(scene->finder);
    feed_reader_free(scene->reader);
    fake_feed_close(&scene->feed);
}

static uint32_t add_module(struct scene *scene, const char *where, uint8_t id)
{
    uint32_t number = fake_feed_module(&scene->feed, where);
    struct feed_module *entry = fake_feed_entry(&scene->feed, number);

    entry->bias = 0x5000;
    entry->build_id[0] = id;
    entry->build_id[1] = 1;
    entry->build_id_bytes = 20;
    return number;
}

/* One is seen from outside, too. */
static bool view(void *context, uint32_t number, struct feed_module_view *out)
{
    struct scene *scene = context;

    if (number < FEED_MODULES_MAX)
        return feed_reader_module(scene->reader, number, out);
    if (number > FEED_MODULES_MAX + scene->outside)
        return false;
    *out = (struct feed_module_view){
        .bias = 0x5000, .path = path, .build_id = { 7, 1 }, .build_id_bytes = 20
    };
    return true;
}

static void look(struct scene *scene, int64_t now_us)
{
    const struct runtime_modules modules = { scene->reader, view, scene };

    runtime_finder_look(scene->finder, &scene->looks, &modules, getpid(), "/usr/bin/program",
                        now_us);
}

static uint32_t told(const struct scene *scene)
{
    return atomic_load(&scene->feed.writer.header->control.runtimes_used);
}

static void what_is_found_is_told_the_program_once(void **state)
{
    struct scene scene;

    (void)state;
    open_scene(&scene, RUNTIME_FOUND);
    write_module("the_loop", 7);
    add_module(&scene, path, 7);
    for (int64_t now_us = 0; now_us < 3000000; now_us += 10000)
        look(&scene, now_us);
    assert_int_equal(asked, 1);
    assert_int_equal(told(&scene), 1);
    assert_int_equal(scene.feed.writer.runtimes[0].ready, 1);
    assert_int_equal(scene.feed.writer.runtimes[0].kind, FEED_RUNTIME_CPYTHON);
    assert_int_equal(scene.feed.writer.runtimes[0].ranges[0].start, 0x6010);
    assert_int_equal(scene.looks.told, 1u << FEED_RUNTIME_CPYTHON);
    close_scene(&scene);
}

/* The program has slept since before its first tick; then it tells of the same. */
static void what_is_seen_from_outside_is_found(void **state)
{
    struct scene scene;

    (void)state;
    open_scene(&scene, RUNTIME_FOUND);
    write_module("the_loop", 7);
    scene.outside = 1;
    look(&scene, 0);
    assert_int_equal(told(&scene), 1);
    assert_int_equal(scene.looks.places[0].module, FEED_MODULES_MAX + 1);
    add_module(&scene, path, 7);
    look(&scene, 10000);
    assert_int_equal(told(&scene), 1);
    close_scene(&scene);
}

/* Of a library that has not begun itself, soon after it has. */
static void what_is_not_ready_is_asked_again(void **state)
{
    struct scene scene;
    int before;

    (void)state;
    open_scene(&scene, RUNTIME_NOT_YET);
    write_module("the_loop", 7);
    add_module(&scene, path, 7);
    for (int64_t now_us = 0; now_us < 200000; now_us += 10000)
        look(&scene, now_us);
    assert_in_range(asked, 5, 20);
    answer = RUNTIME_FOUND;
    before = asked;
    for (int64_t now_us = 200000; now_us < 300000; now_us += 10000)
        look(&scene, now_us);
    assert_int_equal(asked, before + 1);
    assert_int_equal(told(&scene), 1);
    close_scene(&scene);
}

static void one_that_never_begins_is_asked_seldom(void **state)
{
    struct scene scene;
    int before = 0;

    (void)state;
    open_scene(&scene, RUNTIME_NOT_YET);
    write_module("the_loop", 7);
    add_module(&scene, path, 7);
    for (int64_t now_us = 0; now_us < 100000000; now_us += 10000) {
        if (now_us == 60000000)
            before = asked;
        look(&scene, now_us);
    }
    assert_in_range(asked - before, 20, 41);
    close_scene(&scene);
}

static void an_unknown_version_is_said(void **state)
{
    struct scene scene;

    (void)state;
    open_scene(&scene, RUNTIME_UNKNOWN);
    write_module("the_loop", 7);
    add_module(&scene, path, 7);
    look(&scene, 0);
    assert_int_equal(told(&scene), 0);
    assert_int_equal(scene.looks.unknown, 1u << FEED_RUNTIME_CPYTHON);
    assert_string_equal(scene.looks.reason,
                        "python 3.15: not known to this isoscope: its frames are not shown");
    close_scene(&scene);
}

/* A file is looked at once, whatever it has become by then. */
static void a_build_that_was_met_before_is_not_read_again(void **state)
{
    struct scene scene;

    (void)state;
    open_scene(&scene, RUNTIME_FOUND);
    write_module("the_loop", 7);
    add_module(&scene, path, 7);
    look(&scene, 0);
    unlink(path);
    scene.looks = (struct runtime_looks){ 0 }; /* another process */
    look(&scene, 0);
    assert_int_equal(asked, 2);
    close_scene(&scene);
}

static void modules_without_the_symbol_are_asked_nothing(void **state)
{
    struct scene scene;

    (void)state;
    open_scene(&scene, RUNTIME_FOUND);
    write_module("another_loop", 8);
    add_module(&scene, path, 8);
    add_module(&scene, "/usr/lib/libnothing.so", 9);
    add_module(&scene, "module of nonsense", 10);
    look(&scene, 0);
    assert_int_equal(asked, 0);
    assert_int_equal(scene.looks.told, 0);
    close_scene(&scene);
}

static void a_ninth_runtime_is_one_too_many(void **state)
{
    struct scene scene;

    (void)state;
    open_scene(&scene, RUNTIME_FOUND);
    for (uint8_t id = 1; id <= FEED_RUNTIMES_MAX + 1; id++) {
        write_module("the_loop", id);
        fake_feed_entry(&scene.feed, add_module(&scene, path, id))->bias = id * 0x100000;
        look(&scene, 0);
    }
    assert_int_equal(told(&scene), FEED_RUNTIMES_MAX);
    assert_non_null(strstr(scene.looks.reason, "too many runtimes"));
    close_scene(&scene);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_found_is_told_the_program_once),
        TEST(what_is_seen_from_outside_is_found),
        TEST(what_is_not_ready_is_asked_again),
        TEST(one_that_never_begins_is_asked_seldom),
        TEST(an_unknown_version_is_said),
        TEST(a_build_that_was_met_before_is_not_read_again),
        TEST(modules_without_the_symbol_are_asked_nothing),
        TEST(a_ninth_runtime_is_one_too_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
