#include "protocol/legacy/path_walk.h"

#include "fake_feed.h"
#include "sampler/feed/cleanup.h"
#include "sampler/profile/parts.h"
#include "sampler/profile/profile.h"
#include "sampler/feed/chance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { DEPTH_MAX = 6, FUNCTIONS = 3, PLACES_MAX = 40000, PLACE_BYTES = 64 };

/* "/entry/entry ticks" of a place in the tree, or (without ticks) of one sample that came by. */
struct places {
    char (*list)[PLACE_BYTES];
    size_t count;
};

struct fixture {
    struct profile *profile;
    struct owner *owner;
    struct owner_thread *threads[2];
    uint32_t module, random;
};

static int open_fixture(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    struct profile_options options = { .settings.enabled = true, .no_symbols = true };

    *state = fixture;
    fixture->random = 12345;
    if (profile_new(&fixture->profile, &options) < 0 || owner_new(&fixture->owner, 1) < 0 ||
        owner_thread_new(&fixture->threads[0], fixture->owner, 1, "main") < 0 ||
        owner_thread_new(&fixture->threads[1], fixture->owner, 2, "worker") < 0)
        return -1;
    fixture->module =
        registry_number(fixture->profile->registry, "/usr/bin/app", (uint8_t[]){ 1 }, 1);
    return 0;
}

static int close_fixture(void **state)
{
    struct fixture *fixture = *state;

    owner_thread_release(fixture->threads[0]);
    owner_thread_release(fixture->threads[1]);
    owner_release(fixture->owner);
    profile_free(fixture->profile);
    free(fixture);
    return 0;
}

static uint32_t draw(struct fixture *fixture, uint32_t below)
{
    return (chance_next(&fixture->random) >> 16) % below;
}

static void add_samples(struct fixture *fixture, int count)
{
    uint64_t frames[DEPTH_MAX];

    for (int i = 0; i < count; i++) {
        struct store_sample sample = { .timestamp_us = i,
                                       .depth = 1 + draw(fixture, DEPTH_MAX),
                                       .state = (uint8_t)draw(fixture, 2),
                                       .frames = frames };

        for (uint32_t frame = 0; frame < sample.depth; frame++)
            frames[frame] = FRAME_KEY(fixture->module, 16 * (1 + draw(fixture, FUNCTIONS)));
        sample.thread = fixture->threads[draw(fixture, 2)];
        assert_int_equal(store_add(fixture->profile->stores.of[SAMPLES_OF_TIME], &sample), 0);
    }
}

/* In turns as short as can be. None of them moves what is there already. */
static void gather(struct paths *paths, struct snapshot *snapshot, enum profile_tags tags)
{
    const struct path *list;
    int64_t work = 1;
    int error;

    assert_int_equal(paths_begin(paths, snapshot, tags), 0);
    list = paths->list;
    while ((error = paths_gather(paths, &work)) == 1) {
        assert_ptr_equal(paths->list, list);
        work = 1;
    }
    assert_int_equal(error, 0);
}

static bool next_node(struct path_walk *walk, struct path_node *node)
{
    int64_t work = 1;
    enum path_step step;

    while ((step = path_walk_next(walk, node, &work)) == PATH_WORKS)
        work = 1;
    assert_false(walk->failed);
    return step == PATH_NODE;
}

static void add_place(struct places *places, const uint32_t *row, uint32_t length)
{
    char *at = places->list[places->count++];

    assert_true(places->count < PLACES_MAX);
    for (uint32_t i = 0; i < length; i++)
        at += sprintf(at, "/%u", row[i]);
}

static int by_text(const void *left, const void *right)
{
    return strcmp(left, right);
}

static struct places places_new(void)
{
    return (struct places){ calloc(PLACES_MAX, PLACE_BYTES), 0 };
}

/* Each place once, with how often it was there. */
static void count_places(struct places *places)
{
    size_t kept = 0, run = 0;

    qsort(places->list, places->count, PLACE_BYTES, by_text);
    for (size_t i = 0; i < places->count; i++) {
        char text[PLACE_BYTES];

        run++;
        if (i + 1 < places->count && !strcmp(places->list[i], places->list[i + 1]))
            continue;
        snprintf(text, sizeof(text), "%.40s %zu", places->list[i], run);
        memcpy(places->list[kept++], text, sizeof(text));
        run = 0;
    }
    places->count = kept;
}

/* What each sample's path begins with, read one by one. */
static struct places places_of_samples(const struct paths *paths, enum path_direction direction)
{
    struct places places = places_new();
    uint32_t row[DEPTH_MAX + 3];

    for (uint32_t i = 0; i < paths->count; i++) {
        uint32_t length = paths_read(paths, &paths->list[i], direction, row);

        for (uint32_t sample = 0; sample < paths->list[i].samples; sample++)
            for (uint32_t part = 1; part <= length; part++)
                add_place(&places, row, part);
    }
    count_places(&places);
    return places;
}

/* A tree out of the walk's nodes: those whose children are still to come are on the row. */
static struct places places_of_walk(struct paths *paths, enum path_direction direction)
{
    struct places places = places_new();
    uint32_t row[DEPTH_MAX + 3], left[DEPTH_MAX + 3], length = 0;
    CLEANUP(path_walk_free) struct path_walk walk;
    struct path_node node;

    assert_int_equal(path_walk_begin(&walk, paths, direction), 0);
    while (next_node(&walk, &node)) {
        size_t place = places.count;

        while (length && !left[length - 1])
            length--;
        if (length)
            left[length - 1]--;
        row[length] = node.entry;
        left[length++] = node.children;
        add_place(&places, row, length);
        sprintf(places.list[place] + strlen(places.list[place]), " %llu",
                (unsigned long long)node.ticks);
    }
    for (uint32_t i = 0; i < length; i++)
        assert_int_equal(left[i], 0);
    qsort(places.list, places.count, PLACE_BYTES, by_text);
    return places;
}

static void assert_same(const struct places *walked, const struct places *sampled)
{
    struct places sorted = *sampled;

    qsort(sorted.list, sorted.count, PLACE_BYTES, by_text);
    assert_int_equal(walked->count, sorted.count);
    for (size_t i = 0; i < walked->count; i++)
        assert_string_equal(walked->list[i], sorted.list[i]);
}

static void check(struct fixture *fixture, enum profile_tags tags, uint32_t samples)
{
    struct snapshot_window window = { 0 };
    CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
    CLEANUP(paths_free) struct paths paths = { 0 };
    uint32_t gathered = 0;

    assert_int_equal(snapshot_take(&snapshot, fixture->profile, &window), 0);
    gather(&paths, snapshot, tags);
    for (uint32_t i = 0; i < paths.count; i++)
        gathered += paths.list[i].samples;
    assert_int_equal(gathered, samples);
    for (int direction = PATH_DOWN; direction <= PATH_UP; direction++) {
        struct places walked = places_of_walk(&paths, (enum path_direction)direction);
        struct places sampled = places_of_samples(&paths, (enum path_direction)direction);

        assert_same(&walked, &sampled);
        free(walked.list);
        free(sampled.list);
    }
}

static void a_walk_is_the_tree_of_all_samples(void **state)
{
    add_samples(*state, 2000);
    check(*state, PROFILE_TAGS_NONE, 2000);
    check(*state, PROFILE_TAGS_USER_VM, 2000);
    check(*state, PROFILE_TAGS_VM_USER, 2000);
    check(*state, PROFILE_TAGS_USER_ONLY, 2000);
    check(*state, PROFILE_TAGS_VM_ONLY, 2000);
}

static void one_sample_is_one_row(void **state)
{
    add_samples(*state, 1);
    check(*state, PROFILE_TAGS_USER_VM, 1);
}

static void without_samples_there_is_the_root(void **state)
{
    struct fixture *fixture = *state;
    struct snapshot_window window = { 0 };
    CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
    CLEANUP(paths_free) struct paths paths = { 0 };
    CLEANUP(path_walk_free) struct path_walk walk = { 0 };
    struct path_node node;

    assert_int_equal(snapshot_take(&snapshot, fixture->profile, &window), 0);
    gather(&paths, snapshot, PROFILE_TAGS_NONE);
    assert_int_equal(path_walk_begin(&walk, &paths, PATH_DOWN), 0);
    assert_true(next_node(&walk, &node));
    assert_int_equal(node.ticks, 0);
    assert_int_equal(node.children, 0);
    assert_false(next_node(&walk, &node));
}

/* An id is the place's own, and its parent's was told before. */
static void ids_lead_back_to_the_root(void **state)
{
    struct fixture *fixture = *state;
    struct snapshot_window window = { 0 };
    CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
    CLEANUP(paths_free) struct paths paths = { 0 };
    CLEANUP(path_walk_free) struct path_walk walk = { 0 };
    uint64_t *ids = calloc(PLACES_MAX, sizeof(*ids));
    struct snapshot_sample sample;
    struct path_node node;
    uint32_t cursor = 0;
    size_t count = 0;

    add_samples(fixture, 500);
    assert_int_equal(snapshot_take(&snapshot, fixture->profile, &window), 0);
    gather(&paths, snapshot, PROFILE_TAGS_NONE);
    assert_int_equal(path_walk_begin(&walk, &paths, PATH_DOWN), 0);
    while (next_node(&walk, &node)) {
        bool parent_told = !node.parent_id;

        for (size_t i = 0; i < count; i++) {
            assert_true(ids[i] != node.id);
            parent_told |= ids[i] == node.parent_id;
        }
        assert_true(parent_told && node.id < UINT64_C(1) << 53);
        ids[count++] = node.id;
    }
    while (snapshot_next(snapshot, &cursor, &sample)) {
        size_t i = 0;

        while (i < count && ids[i] != path_id_of(&paths, &sample))
            i++;
        assert_true(i < count);
    }
    free(ids);
}

int main(void)
{
#define WALK_TEST(test) cmocka_unit_test_setup_teardown(test, open_fixture, close_fixture)
    const struct CMUnitTest tests[] = {
        WALK_TEST(a_walk_is_the_tree_of_all_samples),
        WALK_TEST(one_sample_is_one_row),
        WALK_TEST(without_samples_there_is_the_root),
        WALK_TEST(ids_lead_back_to_the_root),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
