#include "sampler/profile/intake/code_frames.h"

#include "fake_elf.h"
#include "fake_feed.h"
#include "sampler/feed/feed_codes.h"
#include "sampler/profile/store/frame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct scene {
    struct fake_feed feed;
    struct feed_reader *reader;
    struct registry *registry;
    struct code_frames known;
    struct module_set met;
};

static int open_scene(void **state)
{
    struct scene *scene = *state = calloc(1, sizeof(*scene));

    fake_feed_open(&scene->feed, getpid());
    return feed_reader_open(&scene->reader, fake_feed_memfd(&scene->feed)) < 0 ||
           registry_new(&scene->registry) < 0;
}

static int close_scene(void **state)
{
    struct scene *scene = *state;

    code_frames_free(&scene->known);
    module_set_free(&scene->met);
    registry_free(scene->registry);
    feed_reader_free(scene->reader);
    fake_feed_close(&scene->feed);
    free(scene);
    return 0;
}

static uint32_t tell(struct scene *scene, const char *name, const char *file)
{
    const struct feed_code_text text = { .runtime = FEED_RUNTIME_CPYTHON,
                                         .lines = FEED_LINES_DIRECT,
                                         .name = name,
                                         .file = file,
                                         .name_bytes = (uint32_t)strlen(name),
                                         .file_bytes = (uint32_t)strlen(file),
                                         .first_line = 3 };
    uint32_t id = feed_writer_code(&scene->feed.writer, &text);

    assert_int_not_equal(id, 0);
    return id;
}

static uint64_t frame_of(struct scene *scene, uint64_t feed_frame)
{
    return code_frame(&scene->known, scene->reader, getpid(), feed_frame, scene->registry,
                      &scene->met);
}

static struct module *module_of(struct scene *scene, uint64_t frame)
{
    return registry_module(scene->registry, FRAME_KEY_MODULE(frame));
}

static void a_frame_is_of_its_file_and_keeps_its_position(void **state)
{
    struct scene *scene = *state;
    uint32_t id = tell(scene, "area", "/srv/shapes.py");
    uint64_t frame = frame_of(scene, FEED_FRAME_CODE(id, 12));
    struct feed_code_text code;

    assert_string_equal(module_of(scene, frame)->path, "/srv/shapes.py");
    assert_true(module_set_has(&scene->met, FRAME_KEY_MODULE(frame)));
    assert_int_equal(CODE_OFFSET_POSITION(FRAME_KEY_OFFSET(frame)), 12);
    assert_true(codes_get(registry_codes(scene->registry),
                          CODE_OFFSET_NUMBER(FRAME_KEY_OFFSET(frame)), &code));
    assert_string_equal(code.name, "area");
    assert_int_equal(frame_of(scene, FEED_FRAME_CODE(id, 13)), frame + 1);
}

/* Another process with the same program runs the same functions. */
static void the_same_code_of_two_feeds_is_one(void **state)
{
    struct scene *scene = *state, *other;
    uint64_t frame = frame_of(scene, FEED_FRAME_CODE(tell(scene, "area", "/srv/shapes.py"), 5));
    void *second;

    assert_int_equal(open_scene(&second), 0);
    other = second;
    tell(other, "first", "/srv/other.py"); /* so that the ids differ */
    assert_int_equal(code_frame(&other->known, other->reader, getpid(),
                                FEED_FRAME_CODE(tell(other, "area", "/srv/shapes.py"), 5),
                                scene->registry, &other->met),
                     frame);
    close_scene(&second);
}

static void an_id_that_means_nothing_is_code_in_no_module(void **state)
{
    struct scene *scene = *state;
    uint32_t id = tell(scene, "area", "/srv/shapes.py");
    uint64_t before = feed_reader_corrupt(scene->reader);
    const uint32_t wrong[] = { 0, id + 1, id + 1000, 0xffffff };

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_int_equal(FRAME_KEY_MODULE(frame_of(scene, FEED_FRAME_CODE(wrong[i], 7))), 0);
    assert_int_equal(feed_reader_corrupt(scene->reader), before + 4);
    assert_int_equal(registry_end(scene->registry), 1);
}

static void a_relative_file_is_where_the_process_works(void **state)
{
    struct scene *scene = *state;
    char folder[64], before[512], wanted[600];
    uint64_t found, missing, word;
    FILE *file;

    assert_non_null(getcwd(before, sizeof(before)));
    fake_directory(folder);
    assert_int_equal(chdir(folder), 0);
    file = fopen("app.py", "w");
    assert_non_null(file);
    fclose(file);
    found = frame_of(scene, FEED_FRAME_CODE(tell(scene, "main", "./app.py"), 1));
    missing = frame_of(scene, FEED_FRAME_CODE(tell(scene, "main", "gone.py"), 1));
    word = frame_of(scene, FEED_FRAME_CODE(tell(scene, "main", "<string>"), 1));
    snprintf(wanted, sizeof(wanted), "%s/app.py", folder);
    assert_int_equal(chdir(before), 0);
    fake_directory_remove(folder);
    assert_string_equal(module_of(scene, found)->path, wanted);
    assert_string_equal(module_of(scene, missing)->path, "gone.py");
    assert_string_equal(module_of(scene, word)->path, "<string>");
}

static void code_in_no_file_is_of_its_runtime(void **state)
{
    struct scene *scene = *state;
    uint64_t frame = frame_of(scene, FEED_FRAME_CODE(tell(scene, "nowhere", ""), 1));

    assert_string_equal(module_of(scene, frame)->path, "[python]");
    assert_true(module_of(scene, frame)->script);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_scene, close_scene)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_frame_is_of_its_file_and_keeps_its_position),
        TEST(the_same_code_of_two_feeds_is_one),
        TEST(an_id_that_means_nothing_is_code_in_no_module),
        TEST(a_relative_file_is_where_the_process_works),
        TEST(code_in_no_file_is_of_its_runtime),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
