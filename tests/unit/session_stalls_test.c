/* Stalls in session files: they come out as they went in, and what stands in the way is told in the words that
 * users get. */
#include "sampler/profile/stalls.h"

#include "fake_stalls.h"
#include "profile_fixture.h"
#include "session_craft.h"

static int open_fixture(void **state)
{
    *state = fixture_begin(NULL);
    return fixture_attach(*state);
}

static int close_fixture(void **state)
{
    return fixture_end(*state);
}

/* From malloc. */
static char *words_of(struct profile *profile)
{
    size_t bytes;
    char *text;
    FILE *out = open_memstream(&text, &bytes);

    tell_stalls(profile, out);
    tell_loops(profile, out);
    fclose(out);
    return text;
}

static void save(struct fixture *fixture)
{
    struct file_bytes file =
        save_bytes(fixture->profile, &(const struct session_options){ .sources = false });

    write_bytes(fixture->session, file.data, file.count);
    free(file.data);
}

static void assert_same_stalls(struct profile *saved, struct profile *live)
{
    char *before = words_of(live), *after = words_of(saved);

    assert_string_equal(after, before);
    free(before);
    free(after);
}

/* Every member has a value of its own, and one has words that are no UTF-8 in JSON's way. */
static struct stall full_stall(uint64_t process_id, uint64_t number)
{
    struct stall stall = fake_stall(process_id, number);

    stall.ongoing = false;
    stall.told = false;
    stall.level = STALL_LEVEL_HANG;
    stall.equals = 4;
    stall.updates = 3;
    stall.cause = STALL_CAUSE_LOCK;
    stall.evidence = (struct stall_evidence){ .running_ns = 1,
                                              .runnable_ns = 2,
                                              .sleeping_ns = 3,
                                              .faults = 4,
                                              .host_late_ns = 5,
                                              .system_call = "futex",
                                              .descriptor = 6,
                                              .path = "/a \"b\"",
                                              .holder_tid = 7,
                                              .holder = "worker",
                                              .holder_function = "flush_log" };
    stall.tag = "request";
    stall.slice = "draw";
    return stall;
}

static void stalls_come_out_as_they_went_in(void **state)
{
    struct fixture *fixture = *state;
    struct saved_problem problem = { 0 };
    struct stall stall = fake_stall(fixture->id, 1), full = full_stall(fixture->id, 2);
    struct profile *saved;

    fake_stall_put(fixture->profile, &full);
    stall.number = 3; /* it goes on: behind those that have ended */
    fake_stall_put(fixture->profile, &stall);
    save(fixture);
    saved = open_saved(fixture->session, &problem);
    if (!saved)
        fail_msg("%s", problem.reason);
    assert_same_stalls(saved, fixture->profile);
    assert_true(saved_now_us(saved) >= 1304000);
    profile_free(saved);
}

/* As a saved profile is saved again. */
static void stalls_of_a_session_are_saved_again(void **state)
{
    struct fixture *fixture = *state;
    struct saved_problem problem = { 0 };
    struct stall full = full_stall(fixture->id, 2);
    struct profile *live = fixture->profile, *saved;

    fake_stall_put(live, &full);
    save(fixture);
    saved = open_saved(fixture->session, &problem);
    fixture->profile = saved;
    save(fixture);
    fixture->profile = live;
    profile_free(saved);
    saved = open_saved(fixture->session, &problem);
    assert_same_stalls(saved, live);
    profile_free(saved);
}

/* Of two files: numbers of the second go on behind those of the first, and its times are aligned. */
static void stalls_of_two_files_are_one_list(void **state)
{
    struct fixture *fixture = *state;
    const char *files[] = { fixture->session, fixture->session };
    struct saved_problem problem = { 0 };
    struct stall full = full_stall(fixture->id, 2);
    struct profile *saved;
    struct stalls *stalls;

    fake_stall_put(fixture->profile, &full);
    save(fixture);
    assert_int_equal(profile_open_saved(&saved, &(struct saved_options){ 0 }, files, 2, &problem),
                     0);
    assert_int_equal(stalls_take(&stalls, saved, &(struct stalls_window){ 0 }), 0);
    assert_int_equal(stalls_count(stalls), 2);
    assert_int_equal(stalls_at(stalls, 0)->number, 2);
    assert_int_equal(stalls_at(stalls, 1)->number, 4);
    assert_int_equal(stalls_at(stalls, 0)->process_id, fixture->id);
    assert_int_not_equal(stalls_at(stalls, 1)->process_id, fixture->id);
    stalls_free(stalls);
    profile_free(saved);
}

/* A name of C++ may be as long as it likes; what does not fit into a block is told without its stacks. */
static void a_stall_with_endless_names_is_told_without_stacks(void **state)
{
    static char names[STALL_STACKS_MAX][60000];
    static const char *functions[STALL_STACKS_MAX];
    static struct stall_stack stacks[STALL_STACKS_MAX];
    struct fixture *fixture = *state;
    struct saved_problem problem = { 0 };
    struct stall stall = full_stall(fixture->id, 1);
    struct profile *saved;
    struct stalls *stalls;

    for (int i = 0; i < STALL_STACKS_MAX; i++) {
        memset(names[i], 'a' + i, sizeof(names[i]) - 1);
        functions[i] = names[i];
        stacks[i] = (struct stall_stack){ 1250000000, 0, 1, &functions[i] };
    }
    stall.stacks = stacks;
    stall.stack_count = STALL_STACKS_MAX;
    fake_stall_put(fixture->profile, &stall);
    save(fixture);
    saved = open_saved(fixture->session, &problem);
    if (!saved)
        fail_msg("%s", problem.reason);
    assert_int_equal(stalls_take(&stalls, saved, &(struct stalls_window){ 0 }), 0);
    assert_int_equal(stalls_at(stalls, 0)->stack_count, 0);
    assert_string_equal(stalls_at(stalls, 0)->culprit.function, "b");
    stalls_free(stalls);
    profile_free(saved);
}

#define STALL(rest) "{\"number\":1,\"process\":5,\"texts\":[\"f\",\"l\"]" rest "}"

static void stalls_that_cannot_be_are_told(void **state)
{
    static const struct {
        const char *text, *reason;
    } cases[] = {
        { STALL(""), NULL },
        { STALL(",\"culprit\":[1,2,0,7],\"prefix\":[1,0],\"runs\":[[1,5,6,7]],\"stacks\":[[5,0,[1]]"
                "]"),
          NULL },
        { STALL(",\"level\":\"endless\",\"cause\":\"later\""), NULL },
        { "[]", "it is no JSON object" },
        { "{\"process\":5}", "'number' is missing" },
        { "{\"number\":1,\"process\":6}", "process 6 is not there" },
        { "{\"number\":1}", "process 0 is not there" },
        { STALL(",\"tid\":-1"), "'tid' is no number from 0 to 2147483647" },
        { STALL(",\"loop\":-1"), "'loop' is no number from 0 to 2147483647" },
        { STALL(",\"startNs\":7"), "'startNs' is no list" },
        { STALL(",\"startNs\":[2,1]"), "'startNs' is no number from 2 to 2305843009213693951" },
        { STALL(",\"durationNs\":[-1,1]"),
          "'durationNs' is no number from 0 to 2305843009213693951" },
        { STALL(",\"ongoing\":1"), "'ongoing' is neither true nor false" },
        { STALL(",\"evidence\":7"), "'evidence' is no object" },
        { STALL(",\"evidence\":{\"descriptor\":-2}"),
          "'descriptor' is no number from -1 to 2147483647" },
        { STALL(",\"evidence\":{\"path\":7}"), "'path' is no text" },
        { "{\"number\":1,\"process\":5,\"texts\":[7]}", "'texts' is no list of texts" },
        { "{\"number\":1,\"process\":5,\"texts\":7}", "'texts' is no list" },
        { STALL(",\"tag\":3"), "'tag' is no number from 0 to 2" },
        { STALL(",\"culprit\":[3,0,0,0]"), "'culprit' is no number from 0 to 2" },
        { STALL(",\"caller\":[0,0,0,-1]"), "'caller' is no number from 0 to 4294967295" },
        { STALL(",\"prefix\":[0,3]"), "'prefix' is no number from 0 to 2" },
        { STALL(",\"runs\":[[1,6,5,1]]"), "'runs' is no number from 6 to 2305843009213693951" },
        { STALL(",\"runs\":[7]"), "'runs' is no number from 0 to 2" },
        { STALL(",\"stacks\":[[5,0,[3]]]"), "'stacks' is no number from 0 to 2" },
        { STALL(",\"stacks\":[[5,256,[1]]]"), "'stacks' is no number from 0 to 255" },
    };
    struct fixture *fixture = *state;
    struct saved_problem problem;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct craft craft;
        bool opened;

        craft_begin(&craft);
        craft_json(&craft, "HEAD", HEAD);
        craft_json(&craft, "PROC", PROCESS);
        craft_bytes(&craft, "STLS", BLOCK_FRAME_OWN, cases[i].text, strlen(cases[i].text));
        opened = opens(fixture->session, craft.file.data, craft.file.count, &problem);
        if (!opened)
            assert_block_reason("STLS", cases[i].reason ? cases[i].reason : "", &problem);
        assert_int_equal(opened, !cases[i].reason);
        craft_end(&craft);
    }
}

/* A list of so many of the element, as the member of a stall. */
static void assert_too_many(struct fixture *fixture, const char *begin, const char *element,
                            const char *end, uint32_t most, const char *reason)
{
    struct saved_problem problem;

    for (uint32_t count = most; count <= most + 1; count++) {
        struct bytes text = { 0 };
        struct craft craft;

        bytes_put(&text, begin, strlen(begin));
        for (uint32_t i = 0; i < count; i++) {
            bytes_put(&text, ",", i > 0);
            bytes_put(&text, element, strlen(element));
        }
        bytes_put(&text, end, strlen(end));
        craft_begin(&craft);
        craft_json(&craft, "HEAD", HEAD);
        craft_json(&craft, "PROC", PROCESS);
        craft_bytes(&craft, "STLS", BLOCK_FRAME_OWN, text.data, text.count);
        assert_int_equal(opens(fixture->session, craft.file.data, craft.file.count, &problem),
                         count == most);
        if (count > most)
            assert_block_reason("STLS", reason, &problem);
        craft_end(&craft);
        bytes_free(&text);
    }
}

static void more_than_a_stall_may_have_is_told(void **state)
{
    static const char begin[] = "{\"number\":1,\"process\":5,\"texts\":[\"f\"],";
    char text[128];

    snprintf(text, sizeof(text), "%s\"prefix\":[", begin);
    assert_too_many(*state, text, "1", "]}", STALL_PREFIX_MAX, "'prefix' are more than 64");
    snprintf(text, sizeof(text), "%s\"runs\":[", begin);
    assert_too_many(*state, text, "[1,5,6,7]", "]}", STALL_RUNS_MAX, "'runs' are more than 32");
    snprintf(text, sizeof(text), "%s\"stacks\":[", begin);
    assert_too_many(*state, text, "[5,0,[1]]", "]}", STALL_STACKS_MAX, "'stacks' are more than 20");
    snprintf(text, sizeof(text), "%s\"stacks\":[[5,0,[", begin);
    assert_too_many(*state, text, "1", "]]]}", 128, "'stacks' are more than 128");
}

#define TIMES      "{\"count\":7,\"sumNs\":8,\"maxNs\":[9,10],\"buckets\":[0,3,4]}"
#define LOOP(rest) "{\"loops\":[{\"number\":1,\"process\":5" rest "}]}"

static const char loops[] =
    "{\"settings\":{\"watch\":\"all\",\"names\":\"w*\",\"limitsMs\":[1,2,3,4]},\"loops\":[{"
    "\"number\":1,"
    "\"process\":5,\"tid\":7,\"name\":\"worker\",\"thread\":\"main\",\"kind\":\"poll\",\"ended\":"
    "true,"
    "\"watched\":true,\"busy\":false,\"dispatches\":6,\"dispatch\":" TIMES ",\"delay\":" TIMES
    ",\"blockingNs\":11,\"levels\":{\"jank\":12,\"hang\":13},\"causes\":{\"busy\":14},"
    "\"dismissed\":15,"
    "\"limitsMs\":[16,17,18,19]},{\"number\":3,\"process\":5}],\"unwatched\":[{\"process\":5,"
    "\"tid\":8,"
    "\"name\":\"ring\",\"systemCall\":\"io_uring_enter\"}],\"cpuHigh\":[{\"number\":1,\"process\":"
    "5,"
    "\"tid\":7,\"fromUs\":20,\"toUs\":21,\"permille\":990}]}";

static void craft_loops(struct craft *craft, const char *text)
{
    craft_begin(craft);
    craft_json(craft, "HEAD", HEAD);
    craft_json(craft, "PROC", PROCESS);
    craft_bytes(craft, "LOOP", BLOCK_FRAME_OWN, text, strlen(text));
}

static void loops_come_out_as_they_went_in(void **state)
{
    struct fixture *fixture = *state;
    struct saved_problem problem = { 0 };
    struct profile *live = fixture->profile, *saved, *again;
    struct craft craft;
    char *words;

    craft_loops(&craft, loops);
    write_bytes(fixture->session, craft.file.data, craft.file.count);
    saved = open_saved(fixture->session, &problem);
    if (!saved)
        fail_msg("%s", problem.reason);
    words = words_of(saved);
    assert_string_equal(
        words, "watch 2 w* 1 2 3 4\n"
               "loop 1 of 5 7 'main' 'worker' kind 2 ended watched 6\n"
               " dispatch 7 8 9-10: 0 3 4\n"
               " delay 7 8 9-10: 0 3 4\n"
               " blocking 11 dismissed 15 levels 12 0 13 0 causes 0 14 0 0 0 0 0 0 0 0 limits 16 "
               "17 18 19\n"
               "loop 3 of 5 0 '' '' kind 0 0\n"
               " dispatch 0 0 0-0:\n"
               " delay 0 0 0-0:\n"
               " blocking 0 dismissed 0 levels 0 0 0 0 causes 0 0 0 0 0 0 0 0 0 0 limits 0 0 0 0\n"
               "unwatched 5 8 ring io_uring_enter\n"
               "high 1 of 5 7 20-21 990\n");
    free(words);
    fixture->profile = saved;
    save(fixture);
    fixture->profile = live;
    again = open_saved(fixture->session, &problem);
    assert_same_stalls(again, saved);
    profile_free(saved);
    profile_free(again);
    craft_end(&craft);
}

/* A stall's loop is found by its number in whatever file it is. */
static void loops_of_two_files_are_numbered_on(void **state)
{
    static const char stall[] = "{\"number\":1,\"process\":5,\"loop\":3}";
    struct fixture *fixture = *state;
    const char *files[] = { fixture->session, fixture->session };
    struct saved_problem problem = { 0 };
    struct loop_info found[8];
    struct profile *saved;
    struct stalls *stalls;
    struct craft craft;

    craft_loops(&craft, loops);
    craft_bytes(&craft, "LOOP", BLOCK_FRAME_OWN, loops, strlen(loops)); /* told again */
    craft_bytes(&craft, "STLS", BLOCK_FRAME_OWN, stall, strlen(stall));
    write_bytes(fixture->session, craft.file.data, craft.file.count);
    assert_int_equal(profile_open_saved(&saved, &(struct saved_options){ 0 }, files, 2, &problem),
                     0);
    assert_int_equal(profile_loops(saved, 0, found, 8), 4);
    assert_int_equal(found[2].number, 4);
    assert_int_equal(found[3].number, 6);
    assert_int_not_equal(found[2].process_id, 5);
    assert_int_equal(profile_unwatched(saved, 0, NULL, 0), 2);
    assert_int_equal(profile_stall_settings(saved).limits_ms[3], 4);
    assert_int_equal(stalls_take(&stalls, saved, &(struct stalls_window){ 0 }), 0);
    assert_int_equal(stalls_at(stalls, 0)->loop, 3);
    assert_int_equal(stalls_at(stalls, 1)->loop, 6);
    stalls_free(stalls);
    profile_free(saved);
    craft_end(&craft);
}

static void loops_that_cannot_be_are_told(void **state)
{
    static const struct {
        const char *text, *reason;
    } cases[] = {
        { LOOP(""), NULL },
        { LOOP(",\"kind\":\"later\",\"causes\":{\"later\":1}"), NULL },
        { "[]", "it is no JSON object" },
        { "{\"loops\":7}", "'loops' is no list" },
        { "{\"loops\":[7]}", "it is no JSON object" },
        { "{\"loops\":[{\"process\":5}]}", "'number' is missing" },
        { "{\"loops\":[{\"number\":-1}]}", "'number' is no number from 0 to 2147483647" },
        { "{\"loops\":[{\"number\":1,\"process\":6}]}", "process 6 is not there" },
        { LOOP(",\"name\":7"), "'name' is no text" },
        { LOOP(",\"busy\":7"), "'busy' is neither true nor false" },
        { LOOP(",\"dispatch\":7"), "'dispatch' is no object" },
        { LOOP(",\"dispatch\":{\"count\":-1}"),
          "'count' is no number from 0 to 9223372036854775807" },
        { LOOP(",\"delay\":{\"maxNs\":[2,1]}"),
          "'maxNs' is no number from 2 to 9223372036854775807" },
        { LOOP(",\"delay\":{\"buckets\":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,"
               "0,"
               "0,0,0]}"),
          "'buckets' are more than 32" },
        { LOOP(",\"delay\":{\"buckets\":[-1]}"),
          "'buckets' is no number from 0 to 9223372036854775807" },
        { LOOP(",\"levels\":{\"jank\":-1}"), "'jank' is no number from 0 to 9223372036854775807" },
        { LOOP(",\"limitsMs\":[1]"), "'limitsMs' is no number from 0 to 4294967295" },
        { "{\"settings\":7}", "'settings' is no object" },
        { "{\"settings\":{\"names\":7}}", "'names' is no text" },
        { "{\"unwatched\":[{\"process\":6}]}", "process 6 is not there" },
        { "{\"unwatched\":[{\"process\":5,\"tid\":-1}]}",
          "'tid' is no number from 0 to 2147483647" },
        { "{\"cpuHigh\":[{\"process\":6}]}", "process 6 is not there" },
        { "{\"cpuHigh\":[{\"process\":5,\"fromUs\":2,\"toUs\":1}]}",
          "'toUs' is no number from 2 to 2305843009213693951" },
    };
    struct fixture *fixture = *state;
    struct saved_problem problem;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct craft craft;
        bool opened;

        craft_loops(&craft, cases[i].text);
        opened = opens(fixture->session, craft.file.data, craft.file.count, &problem);
        if (!opened)
            assert_block_reason("LOOP", cases[i].reason ? cases[i].reason : "", &problem);
        assert_int_equal(opened, !cases[i].reason);
        craft_end(&craft);
    }
}

/* Blocks with so many of a list's elements in all; format: of an element, with its number. */
static void assert_no_room(struct fixture *fixture, const char *list, const char *format,
                           uint32_t most, const char *reason)
{
    enum { AT_ONCE = 8192 };

    for (uint32_t count = most; count <= most + 1; count++) {
        struct saved_problem problem;
        struct craft craft;

        craft_begin(&craft);
        craft_json(&craft, "HEAD", HEAD);
        craft_json(&craft, "PROC", PROCESS);
        for (uint32_t from = 0; from < count; from += AT_ONCE) {
            struct bytes text = { 0 };
            char element[64];

            snprintf(element, sizeof(element), "{\"%s\":[", list);
            bytes_put(&text, element, strlen(element));
            for (uint32_t i = from; i < count && i < from + AT_ONCE; i++) {
                snprintf(element, sizeof(element), format, i + 1);
                bytes_put(&text, ",", i > from);
                bytes_put(&text, element, strlen(element));
            }
            bytes_put(&text, "]}", 2);
            craft_bytes(&craft, "LOOP", BLOCK_FRAME_OWN, text.data, text.count);
            bytes_free(&text);
        }
        assert_int_equal(opens(fixture->session, craft.file.data, craft.file.count, &problem),
                         count == most);
        if (count > most)
            assert_block_reason("LOOP", reason, &problem);
        craft_end(&craft);
    }
}

static void more_than_there_is_room_for_is_told(void **state)
{
    assert_no_room(*state, "loops", "{\"number\":%u,\"process\":5}", 65536,
                   "there is no room for another loop");
    assert_no_room(*state, "unwatched", "{\"process\":5,\"tid\":%u}", 4096,
                   "there is no room for another thread that is not watched");
    assert_no_room(*state, "cpuHigh", "{\"process\":5,\"tid\":%u}", 65536,
                   "there is no room for another time of high CPU use");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(stalls_come_out_as_they_went_in),
        TEST(stalls_of_a_session_are_saved_again),
        TEST(stalls_of_two_files_are_one_list),
        TEST(a_stall_with_endless_names_is_told_without_stacks),
        TEST(stalls_that_cannot_be_are_told),
        TEST(more_than_a_stall_may_have_is_told),
        TEST(loops_come_out_as_they_went_in),
        TEST(loops_of_two_files_are_numbered_on),
        TEST(loops_that_cannot_be_are_told),
        TEST(more_than_there_is_room_for_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
