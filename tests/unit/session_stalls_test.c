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

static void tell_stall(const struct stall *stall, FILE *out)
{
    const struct stall_evidence *evidence = &stall->evidence;

    fprintf(out, "%" PRIu64 " of %" PRIu64 " %d '%s' '%s' loop %u level %d%s%s\n", stall->number,
            stall->process_id, stall->tid, stall->thread_name, stall->name, stall->loop,
            stall->level, stall->ongoing ? " ongoing" : "", stall->told ? " told" : "");
    fprintf(out,
            "equals %u updates %u limit %" PRId64 " from %" PRId64 "-%" PRId64 " for %" PRId64
            "-%" PRId64 " cause %d\n",
            stall->equals, stall->updates, stall->limit_ns, stall->start_ns.min,
            stall->start_ns.max, stall->duration_ns.min, stall->duration_ns.max, stall->cause);
    fprintf(out,
            "%" PRIu64 " %" PRIu64 " %" PRIu64 " faults %" PRIu64 " late %" PRIu64
            " '%s' %d '%s' by %d '%s' in '%s'\n",
            evidence->running_ns, evidence->runnable_ns, evidence->sleeping_ns, evidence->faults,
            evidence->host_late_ns, evidence->system_call, evidence->descriptor, evidence->path,
            evidence->holder_tid, evidence->holder, evidence->holder_function);
    fprintf(out,
            "culprit '%s' '%s' %s:%u caller '%s' '%s' %s:%u %" PRId64 " %u/%u tag %s slice %s\n",
            stall->culprit.function, stall->culprit.library,
            stall->culprit.file ? stall->culprit.file : "-", stall->culprit.line,
            stall->caller.function, stall->caller.library,
            stall->caller.file ? stall->caller.file : "-", stall->caller.line, stall->culprit_ns,
            stall->culprit_looks, stall->looks, stall->tag ? stall->tag : "-",
            stall->slice ? stall->slice : "-");
    for (uint32_t i = 0; i < stall->prefix_count; i++)
        fprintf(out, "prefix '%s'\n", stall->prefix[i]);
    for (uint32_t i = 0; i < stall->run_count; i++)
        fprintf(out, "run '%s' %" PRId64 "-%" PRId64 " %u\n", stall->runs[i].function,
                stall->runs[i].from_ns, stall->runs[i].to_ns, stall->runs[i].looks);
    for (uint32_t i = 0; i < stall->stack_count; i++) {
        fprintf(out, "stack %" PRId64 " %d:", stall->stacks[i].at_ns, stall->stacks[i].state);
        for (uint32_t frame = 0; frame < stall->stacks[i].depth; frame++)
            fprintf(out, " '%s'", stall->stacks[i].functions[frame]);
        fprintf(out, "\n");
    }
}

/* In words; from malloc. */
static char *tell_stalls(struct profile *profile)
{
    struct stalls *stalls;
    size_t bytes;
    char *text;
    FILE *out = open_memstream(&text, &bytes);

    assert_int_equal(stalls_take(&stalls, profile, &(struct stalls_window){ 0 }), 0);
    for (size_t i = 0; i < stalls_count(stalls); i++)
        tell_stall(stalls_at(stalls, i), out);
    stalls_free(stalls);
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
    char *before = tell_stalls(live), *after = tell_stalls(saved);

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
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
