/* What stands in the way of a session's events, in the words that users get. */
#include "sampler/profile/saved.h"

#include "fake_elf.h"
#include "session_craft.h"
#include "sampler/profile/timeline.h"

#include <stdio.h>

struct fixture {
    char directory[64], session[128];
};

static int open_fixture(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    fake_directory(fixture->directory);
    snprintf(fixture->session, sizeof(fixture->session), "%s/s.isoscope", fixture->directory);
    *state = fixture;
    return 0;
}

static int close_fixture(void **state)
{
    struct fixture *fixture = *state;

    unlink(fixture->session);
    rmdir(fixture->directory);
    free(fixture);
    return 0;
}

#define EVENTS "{\"events\":1,\"firstNs\":7,\"lastNs\":9,\"sources\":[[1,1]]}"

/* Each column, its bytes in hex: bytes of texts, texts, stream, source, what, name, time, duration,
 * depth, id, arguments, and of these names, types, values, doubles. */
struct event_case {
    const char *columns[15];
    const char *reason;
};

static void put_event_columns(const struct event_case *from, struct bytes *out)
{
    for (size_t i = 0; i < 15; i++) {
        size_t count = strlen(from->columns[i]) / 2;

        bytes_varint(out, count);
        for (size_t byte = 0; byte < count; byte++) {
            unsigned number = 0;

            sscanf(from->columns[i] + 2 * byte, "%2x", &number);
            bytes_byte(out, (uint8_t)number);
        }
    }
}

/* The first: a slice of 2 ns that ends at 9, called "a", with one argument. */
static void events_that_cannot_be_are_told_when_somebody_looks(void **state)
{
    static const struct event_case cases[] = {
        { { "01", "61", "01", "00", "80", "01", "12", "02", "00", "", "01", "01", "01", "05", "" },
          NULL },
        { { "02", "61", "01", "00", "80", "01", "12", "02", "00", "", "01", "01", "01", "05", "" },
          "its texts are too many, or too long" },
        { { "00", "", "01", "00", "80", "01", "12", "02", "00", "", "01", "01", "01", "05", "" },
          "its texts are too many, or too long" },
        { { "01", "6161", "01", "00", "80", "01", "12", "02", "00", "", "01", "01", "01", "05",
            "" },
          "its columns have other lengths than it says" },
        { { "01", "61", "02", "00", "80", "01", "12", "02", "00", "", "01", "01", "01", "05", "" },
          "its columns have other lengths than it says" },
        { { "01", "61", "01", "01", "80", "01", "12", "02", "00", "", "01", "01", "01", "05", "" },
          "an event has a kind or a source that is not there" },
        { { "01", "61", "01", "00", "8a", "01", "12", "02", "00", "", "01", "01", "01", "05", "" },
          "an event has a kind or a source that is not there" },
        { { "01", "61", "01", "00", "80", "02", "12", "02", "00", "", "01", "01", "01", "05", "" },
          "its columns have other lengths than it says" },
        { { "01", "61", "01", "00", "80", "01", "14", "02", "00", "", "01", "01", "01", "05", "" },
          "an event's time is not within its block's" },
        { { "01", "61", "01", "00", "80", "01", "12", "03", "00", "", "01", "01", "01", "05", "" },
          "an event's time is not within its block's" },
        { { "01", "61", "01", "00", "80", "01", "12", "02", "ffff7f", "", "01", "01", "01", "05",
            "" },
          "an event is too deep, or its words are too many" },
        { { "01", "61", "01", "00", "80", "01", "12", "02", "00", "", "05", "01", "01", "05", "" },
          "its columns have other lengths than it says" },
        { { "01", "61", "01", "00", "80", "01", "12", "02", "00", "", "01", "01", "04", "05", "" },
          "its columns have other lengths than it says" },
        { { "01", "61", "01", "00", "80", "01", "12", "02", "00", "", "01", "01", "03", "05", "" },
          "its columns have other lengths than it says" },
        { { "01", "61", "01", "00", "80", "01", "12", "02", "00", "", "01", "01", "02", "",
            "0000" },
          "its columns have other lengths than it says" },
        { { "01", "61", "01", "00", "80", "01", "12", "02", "00", "00", "01", "01", "01", "05",
            "" },
          "its columns have other lengths than it says" },
        { { "01", "61", "01", "00", "80", "01", "", "02", "00", "", "01", "01", "01", "05", "" },
          "an event's time is not within its block's" },
    };
    struct fixture *fixture = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bytes columns = { 0 };
        struct saved_problem problem;
        struct timeline *timeline;
        struct timeline_event event;
        struct profile *saved;
        struct craft craft;
        uint64_t cursor = 0;

        craft_begin(&craft);
        craft_json(&craft, "HEAD", HEAD);
        craft_json(&craft, "PROC", PROCESS);
        craft_json(&craft, "THRD", THREAD);
        craft_bytes(&craft, "EVTS", BLOCK_FRAME_OWN, EVENTS, strlen(EVENTS));
        put_event_columns(&cases[i], &columns);
        craft_bytes(&craft, "EVNT", BLOCK_FRAME_OWN, columns.data, columns.count);
        write_bytes(fixture->session, craft.file.data, craft.file.count);
        saved = open_saved(fixture->session, &problem);
        if (!saved)
            fail_msg("%zu: %s", i, problem.reason);
        assert_int_equal(timeline_take(&timeline, saved, &(struct timeline_window){ 0 }), 0);
        assert_int_equal(timeline_next(timeline, &cursor, &event), !cases[i].reason);
        assert_int_equal(timeline_damaged(timeline), cases[i].reason != NULL);
        assert_int_equal(saved_damage(saved, &problem), cases[i].reason != NULL);
        if (cases[i].reason)
            assert_block_reason("EVNT", cases[i].reason, &problem);
        timeline_free(timeline);
        profile_free(saved);
        bytes_free(&columns);
        craft_end(&craft);
    }
}

static void events_whose_outline_cannot_be_are_told(void **state)
{
    static const struct {
        const char *outline, *reason;
        bool events;
    } cases[] = {
        { "{\"events\":0,\"firstNs\":7,\"lastNs\":9,\"sources\":[]}",
          "block 'EVTS': 'events' is no number from 1 to 65536", true },
        { "{\"events\":1,\"firstNs\":9,\"lastNs\":7,\"sources\":[[1,1]]}",
          "block 'EVTS': 'events', its times or its sources are out of range", true },
        { "{\"events\":2,\"firstNs\":7,\"lastNs\":9,\"sources\":[[1,1]]}",
          "block 'EVTS': 'sources' are not those of 2 events", true },
        { "{\"events\":1,\"firstNs\":7,\"lastNs\":9,\"sources\":[[2,1]]}",
          "block 'EVTS': thread 2 is not there", true },
        { EVENTS, "block 'EVTS' is followed by 'ENDS', and not by its events", false },
        { NULL, "block 'EVNT' has no 'EVTS' before it", true },
    };
    struct fixture *fixture = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct saved_problem problem = { 0 };
        struct craft craft;

        craft_begin(&craft);
        craft_json(&craft, "HEAD", HEAD);
        craft_json(&craft, "PROC", PROCESS);
        craft_json(&craft, "THRD", THREAD);
        if (cases[i].outline)
            craft_bytes(&craft, "EVTS", BLOCK_FRAME_OWN, cases[i].outline,
                        strlen(cases[i].outline));
        if (cases[i].events)
            craft_bytes(&craft, "EVNT", BLOCK_FRAME_OWN, "", 0);
        else
            craft_json(&craft, "ENDS", "{}");
        assert_false(opens(fixture->session, craft.file.data, craft.file.count, &problem));
        assert_string_equal(problem.reason, cases[i].reason);
        craft_end(&craft);
    }
}

static void events_that_are_packed_by_nobody_are_told(void **state)
{
    struct fixture *fixture = *state;
    struct saved_problem problem;
    struct timeline *timeline;
    struct timeline_event event;
    struct profile *saved;
    struct craft craft;
    uint64_t cursor = 0;

    craft_begin(&craft);
    craft_json(&craft, "HEAD", HEAD);
    craft_json(&craft, "PROC", PROCESS);
    craft_json(&craft, "THRD", THREAD);
    craft_bytes(&craft, "EVTS", BLOCK_FRAME_OWN, EVENTS, strlen(EVENTS));
    craft_stored(&craft, "EVNT", "no frame of zstd");
    write_bytes(fixture->session, craft.file.data, craft.file.count);
    saved = open_saved(fixture->session, &problem);
    assert_non_null(saved);
    assert_int_equal(timeline_take(&timeline, saved, &(struct timeline_window){ 0 }), 0);
    assert_false(timeline_next(timeline, &cursor, &event));
    assert_true(timeline_damaged(timeline) && saved_damage(saved, &problem));
    assert_string_equal(problem.reason, "block 'EVNT' cannot be unpacked");
    timeline_free(timeline);
    profile_free(saved);
    craft_end(&craft);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(events_that_cannot_be_are_told_when_somebody_looks),
        TEST(events_whose_outline_cannot_be_are_told),
        TEST(events_that_are_packed_by_nobody_are_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
