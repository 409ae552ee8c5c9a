/* Profiles that are pulled, over the scripted profile: when they come, and what is in them. */
#include "talk.h"

#include "protocol/pulls/pull.h"
#include "protocol/text/json_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SECOND_US = 1000000, FIELDS = 16 };

static struct pull_answer pull_as(struct client *client, const char *path, const char *argument)
{
    const char *arguments[] = { argument };
    struct pull_answer answer;

    client_pull(client, &(struct pull_request){ path, arguments, argument != NULL, 0, 0, NULL, 0 },
                &answer);
    return answer;
}

static struct pull_answer pull(struct talk *talk, const char *path, const char *argument)
{
    return pull_as(talk->client, path, argument);
}

/* All that it gets, to its end, with a 0 behind it; length 0: nothing yet. */
static struct json_text receive_from(struct client *client)
{
    struct json_text text = { 0 };
    bool begins, ends = false;

    for (int turns = 0; !ends && client_wants_send(client); turns++) {
        assert_true(turns < 100000);
        text.length += client_send(client, json_text_reserve(&text, 64), 64, &begins, &ends);
    }
    assert_true(ends || !text.length);
    json_text_raw(&text, "", 1);
    text.length--;
    return text;
}

static struct json_text receive(struct talk *talk)
{
    return receive_from(talk->client);
}

/* A profile taken apart: how often each field is there, and the numbers of those that are numbers. */
struct message {
    uint64_t counts[FIELDS], numbers[FIELDS];
    const char *last[FIELDS]; /* of those that are bytes */
    uint64_t sizes[FIELDS];
};

static uint64_t varint(const char **at)
{
    uint64_t value = 0;
    unsigned shift = 0;

    for (; **at & 0x80; (*at)++, shift += 7)
        value |= (uint64_t)(**at & 0x7f) << shift;
    return value | (uint64_t)(uint8_t) * (*at)++ << shift;
}

static struct message take_apart(const char *at, size_t length)
{
    const char *end = at + length;
    struct message message = { 0 };

    while (at < end) {
        uint64_t tag = varint(&at), field = tag >> 3;

        assert_true(field && field < FIELDS && (tag & 7) != 1);
        message.counts[field]++;
        message.numbers[field] = varint(&at);
        if ((tag & 7) != 2)
            continue;
        message.sizes[field] = message.numbers[field];
        message.last[field] = at;
        at += message.sizes[field];
    }
    assert_ptr_equal(at, end);
    return message;
}

static bool contains(const struct json_text *text, const char *words)
{
    return memmem(text->data, text->length, words, strlen(words)) != NULL;
}

static void a_profile_comes_when_its_seconds_have_passed(void **state)
{
    struct json_text got;
    struct message profile;
    struct talk talk;
    struct pull_answer answer;

    (void)state;
    talk_begin(&talk);
    answer = pull(&talk, "debug/pprof/profile", "seconds=2");
    assert_string_equal(answer.status, "200 OK");
    assert_string_equal(answer.type, "application/octet-stream");
    assert_true(answer.packed);
    assert_int_equal(service_poll(talk.service), 2000);
    assert_false(client_wants_send(talk.client));
    assert_true(client_pulls(talk.client));
    fake_monotonic_pass(2 * SECOND_US);
    service_poll(talk.service);
    got = receive(&talk);
    profile = take_apart(got.data, got.length);
    assert_int_equal(profile.counts[1], 2);                    /* kinds of values */
    assert_int_equal(profile.counts[2], 0);                    /* no sample is of these seconds */
    assert_int_equal(profile.numbers[10], 2000000000);         /* how long */
    assert_int_equal(profile.numbers[9], 1700000000000000000); /* from when on */
    assert_int_equal(talk.profile.synced, 1);
    json_text_free(&got);
    talk_end(&talk);
}

/* Leaf first: two functions of one place, and their callers. */
static void samples_of_one_stack_and_thread_are_one_entry(void **state)
{
    struct json_text got;
    struct message profile, sample, values;
    struct talk talk;

    (void)state;
    talk_begin(&talk);
    talk.profile.repeat = 3;
    pull(&talk, "debug/pprof/profile", "seconds=0");
    got = receive(&talk);
    profile = take_apart(got.data, got.length);
    assert_int_equal(profile.counts[2], 4);
    sample = take_apart(profile.last[2], profile.sizes[2]);
    assert_int_equal(sample.counts[3],
                     7); /* labels: thread, tid, process, pid, tag, state, stack */
    assert_memory_equal(sample.last[2], "\x03\xc0\x8d\xb7\x01", 5); /* 3, and 3,000,000 ns */
    assert_true(contains(&got, "worker"));
    assert_true(contains(&got, "ab01"));
    assert_true(contains(&got, "isoscope 1.2.3"));
    values = take_apart(profile.last[1], profile.sizes[1]);
    assert_int_equal(values.counts[1], 1);
    json_text_free(&got);
    talk_end(&talk);
}

static void few_labels_are_the_process_and_no_threads(void **state)
{
    struct json_text got;
    struct message profile, sample;
    struct talk talk;

    (void)state;
    talk_begin(&talk);
    client_pull(talk.client,
                &(struct pull_request){ "debug/pprof/profile", (const char *[]){ "labels=few" }, 1,
                                        1, 3000, NULL, 0 },
                &(struct pull_answer){ 0 });
    got = receive(&talk);
    profile = take_apart(got.data, got.length);
    sample = take_apart(profile.last[2], profile.sizes[2]);
    assert_int_equal(sample.counts[3], 1);
    assert_true(contains(&got, "process"));
    assert_false(contains(&got, "worker"));
    json_text_free(&got);
    talk_end(&talk);
}

/* [from, until): samples are of 1000, 1500, 2000 and 2500 us. */
static void a_window_that_has_passed_is_given_at_once(void **state)
{
    struct pull_request request = { "debug/pprof/profile", NULL, 0, 1000, 2000, NULL, 0 };
    struct pull_answer answer;
    struct json_text got;
    struct talk talk;

    (void)state;
    talk_begin(&talk);
    client_pull(talk.client, &request, &answer);
    got = receive(&talk);
    assert_int_equal(take_apart(got.data, got.length).counts[2], 2);
    assert_int_equal(take_apart(got.data, got.length).numbers[10], 1000000);
    assert_int_equal(client_pulled_samples(talk.client), 2);
    json_text_free(&got);
    talk_end(&talk);
}

static void allocations_and_what_lives_of_them_are_one_profile(void **state)
{
    struct json_text got;
    struct message profile, sample;
    struct talk talk;

    (void)state;
    talk_begin(&talk);
    talk.profile.settings.allocation_bytes = 4096;
    pull(&talk, "debug/pprof/heap", NULL);
    got = receive(&talk);
    profile = take_apart(got.data, got.length);
    assert_int_equal(profile.counts[1], 4);
    assert_int_equal(profile.counts[2], 4); /* the two kinds' stacks are the same */
    assert_int_equal(profile.numbers[12], 4096);
    sample = take_apart(profile.last[2], profile.sizes[2]);
    /* 2.5 objects are 3, of 1,000,000 bytes: of both kinds. */
    assert_memory_equal(sample.last[2], "\x03\xc0\x84\x3d\x03\xc0\x84\x3d", 8);
    assert_false(contains(&got, "--alloc"));
    json_text_free(&got);
    talk_end(&talk);
}

static void what_is_not_sampled_is_said_in_a_valid_profile(void **state)
{
    static const struct {
        const char *path, *words;
    } cases[] = {
        { "debug/pprof/allocs", "run the program with --alloc" },
        { "pprof/growth", "run the program with --alloc" },
        { "debug/pprof/mutex", "run the program with --lock" },
        { "debug/pprof/block", "run the program with --lock" },
        { "debug/pprof/goroutine", "isoscope takes no such profile" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct talk talk;
        struct json_text got;

        talk_begin(&talk);
        talk.profile.sample_count = 0;
        assert_string_equal(pull(&talk, cases[i].path, NULL).status, "200 OK");
        got = receive(&talk);
        assert_int_equal(take_apart(got.data, got.length).counts[2], 0);
        assert_true(contains(&got, cases[i].words));
        json_text_free(&got);
        talk_end(&talk);
    }
}

static void the_window_ends_with_the_last_process(void **state)
{
    struct json_text got;
    struct talk talk;

    (void)state;
    talk_begin(&talk);
    pull(&talk, "debug/pprof/profile", "seconds=600");
    assert_int_equal(service_poll(talk.service), 600000);
    fake_monotonic_pass(3 * SECOND_US);
    talk.profile.processes[0].live = false;
    talk.profile.processes[0].end_us = fake_monotonic_us();
    service_poll(talk.service);
    got = receive(&talk);
    assert_int_equal(take_apart(got.data, got.length).numbers[10], 3000000000);
    json_text_free(&got);
    talk_end(&talk);
}

static void a_saved_session_is_given_whole_and_at_once(void **state)
{
    struct json_text got;
    struct talk talk;

    (void)state;
    talk_begin_as(&talk, &(struct service_options){ 0 }, true);
    pull(&talk, "debug/pprof/profile", "seconds=30");
    got = receive(&talk);
    assert_int_equal(take_apart(got.data, got.length).counts[2], 4);
    json_text_free(&got);
    talk_end(&talk);
}

/* The one who pulls has not all day: what has no name by then has none. */
static void names_are_waited_for_and_not_for_long(void **state)
{
    struct json_text got;
    struct talk talk;

    (void)state;
    talk_begin(&talk);
    talk.profile.pending = true;
    pull(&talk, "debug/pprof/profile", "seconds=2");
    fake_monotonic_pass(2 * SECOND_US);
    service_poll(talk.service);
    got = receive(&talk);
    assert_int_equal(got.length, 0);
    json_text_free(&got);
    assert_int_equal(service_poll(talk.service), 500);
    fake_monotonic_pass(SECOND_US / 2);
    service_poll(talk.service);
    got = receive(&talk);
    assert_true(got.length > 0);
    json_text_free(&got);
    talk_end(&talk);
}

static void so_many_are_made_at_once_and_the_next_when_one_has_gone(void **state)
{
    struct client *clients[PULLS_AT_WORK_MAX + 1];
    struct json_text got;
    struct talk talk;

    (void)state;
    talk_begin(&talk);
    for (int i = 0; i <= PULLS_AT_WORK_MAX; i++) {
        assert_int_equal(client_new(&clients[i], talk.service), 0);
        pull_as(clients[i], "debug/pprof/profile", "seconds=0");
    }
    for (int i = 0; i < PULLS_AT_WORK_MAX; i++) {
        got = receive_from(clients[i]);
        assert_true(got.length > 0);
        json_text_free(&got);
    }
    assert_false(client_wants_send(clients[PULLS_AT_WORK_MAX]));
    client_free(clients[0]);
    got = receive_from(clients[PULLS_AT_WORK_MAX]);
    assert_true(got.length > 0);
    json_text_free(&got);
    talk_end(&talk);
}

/* Half taken, in each of its states. */
static void who_leaves_meanwhile_leaves_nothing_behind(void **state)
{
    (void)state;
    for (int turns = 0; turns < 6; turns++) {
        struct talk talk;
        bool begins, ends;
        char buffer[16];

        talk_begin(&talk);
        talk.profile.turns = 2;
        pull(&talk, "debug/pprof/heap", "seconds=0");
        for (int i = 0; i < turns; i++)
            client_send(talk.client, buffer, sizeof(buffer), &begins, &ends);
        talk_end(&talk);
    }
}

static void a_damaged_session_closes_the_client(void **state)
{
    struct json_text got;
    struct talk talk;

    (void)state;
    talk_begin_as(&talk, &(struct service_options){ 0 }, true);
    talk.profile.damaged = true;
    pull(&talk, "debug/pprof/profile", NULL);
    got = receive(&talk);
    assert_int_equal(got.length, 0);
    assert_int_not_equal(talk_closed(&talk), 0);
    json_text_free(&got);
    talk_end(&talk);
}

static void assert_refused(const char *path, const char *argument, const char *status,
                           const char *words)
{
    struct talk talk;
    struct json_text got;
    struct pull_answer answer;

    talk_begin(&talk);
    answer = pull(&talk, path, argument);
    assert_string_equal(answer.status, status);
    assert_false(answer.packed);
    got = receive(&talk);
    if (!contains(&got, words))
        fail_msg("no \"%s\" in %s", words, got.data);
    json_text_free(&got);
    talk_end(&talk);
}

static void wrong_words_are_named(void **state)
{
    static const char *const wrong[] = { "seconds=",
                                         "seconds=x",
                                         "seconds=-1",
                                         "seconds=1.5",
                                         "seconds=601",
                                         "seconds=1 ",
                                         "seconds=99999999999999999" };

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_refused("debug/pprof/profile", wrong[i], "400 Bad Request",
                       "a whole number from 0 (all that is kept) to 600");
    assert_refused("debug/pprof/heap", "debug=1", "400 Bad Request", "debug is to be 0");
    assert_refused("debug/pprof/heap", "labels=some", "400 Bad Request", "all or few");
    assert_refused("debug/pprof/trace", NULL, "404 Not Found", "there is no debug/pprof/trace");
    assert_refused("pprof/profile/x", NULL, "404 Not Found", "there is no pprof/profile/x");
}

static void the_command_line_is_told_as_each_family_has_it(void **state)
{
    static const char *const command[] = { "spin", "40", NULL };
    struct talk talk;
    struct json_text got;

    (void)state;
    talk_begin_as(&talk, &(struct service_options){ .command = command }, false);
    pull(&talk, "debug/pprof/cmdline", NULL);
    got = receive(&talk);
    assert_int_equal(got.length, 7);
    assert_memory_equal(got.data, "spin\00040", 8);
    json_text_free(&got);
    pull(&talk, "pprof/cmdline", NULL);
    got = receive(&talk);
    assert_string_equal(got.data, "spin\n40");
    json_text_free(&got);
    talk_end(&talk);
}

static char *symbols(struct talk *talk, const char *addresses)
{
    struct pull_answer answer;

    client_pull_symbols(talk->client, addresses, strlen(addresses), &answer);
    assert_string_equal(answer.status, "200 OK");
    return receive(talk).data;
}

static void addresses_of_a_profile_have_names(void **state)
{
    struct talk talk;
    struct json_text got;
    char *text;

    (void)state;
    talk_begin(&talk);
    /* Below the code that the script gives its modules nothing would have an address. */
    for (size_t i = 0; i < talk.profile.library_count; i++)
        talk.profile.libraries[i].code_offset = talk.profile.libraries[i].code_file_offset = 0;
    text = symbols(&talk, "0x14");
    assert_string_equal(text, "num_symbols: 1\n");
    free(text);
    pull(&talk, "debug/pprof/profile", "seconds=0");
    got = receive(&talk);
    json_text_free(&got);
    text = symbols(&talk, "0x24+nonsense++0x14+0xfffffffffffff+\x01\xff");
    if (strcmp(text, "num_symbols: 1\n0x24\tspin(int&)\n0x14\tmain\n") != 0)
        fail_msg("%s", text);
    free(text);
    talk_end(&talk);
}

static void the_list_names_all_paths(void **state)
{
    const struct pull_path *path;
    struct talk talk;
    struct json_text got;

    (void)state;
    talk_begin(&talk);
    pull(&talk, "debug/pprof/", NULL);
    got = receive(&talk);
    for (size_t i = 0; (path = pull_path_at(i)); i++)
        assert_true(contains(&got, path->name));
    json_text_free(&got);
    talk_end(&talk);
}

/* A further stack finds no room; its samples are counted all the same. */
static void samples_without_room_for_their_stack_are_counted_together(void **state)
{
    const struct snapshot_window all = { 0 };
    struct pprof_places places = { 0 };
    struct pprof_tables tables = { .places = &places, .fields = &pprof_table_fields };
    struct pprof_samples samples = { .stacks_bytes_max = 1 };
    const struct process_info process = { .name = "spin", .pid = 100 };
    struct snapshot_sample sample;
    struct snapshot *snapshot;
    uint32_t cursor = 0;
    int64_t work = INT64_MAX;
    struct talk talk;
    uint64_t sum = 0;

    (void)state;
    talk_begin(&talk);
    talk.profile.repeat = 5;
    assert_int_equal(snapshot_begin(&snapshot, &talk.profile, &all), 0);
    assert_int_equal(snapshot_step(snapshot, &work), 0);
    pprof_tables_open(&tables, snapshot, "");
    while (snapshot_next(snapshot, &cursor, &sample))
        pprof_samples_add(&samples, &tables, &sample, &process, "", 0);
    assert_true(samples.overflowed);
    assert_int_equal(pprof_samples_count(&samples),
                     5); /* the first stack, and one of each source */
    for (uint32_t i = 0; i < pprof_samples_count(&samples); i++)
        sum += samples.sums[i].amount[0];
    assert_int_equal(sum, 20 * 1000000);
    snapshot_free(snapshot);
    pprof_tables_free(&tables);
    pprof_samples_free(&samples);
    pprof_places_free(&places);
    talk_end(&talk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_profile_comes_when_its_seconds_have_passed),
        cmocka_unit_test(samples_of_one_stack_and_thread_are_one_entry),
        cmocka_unit_test(few_labels_are_the_process_and_no_threads),
        cmocka_unit_test(a_window_that_has_passed_is_given_at_once),
        cmocka_unit_test(allocations_and_what_lives_of_them_are_one_profile),
        cmocka_unit_test(what_is_not_sampled_is_said_in_a_valid_profile),
        cmocka_unit_test(the_window_ends_with_the_last_process),
        cmocka_unit_test(a_saved_session_is_given_whole_and_at_once),
        cmocka_unit_test(names_are_waited_for_and_not_for_long),
        cmocka_unit_test(so_many_are_made_at_once_and_the_next_when_one_has_gone),
        cmocka_unit_test(who_leaves_meanwhile_leaves_nothing_behind),
        cmocka_unit_test(a_damaged_session_closes_the_client),
        cmocka_unit_test(wrong_words_are_named),
        cmocka_unit_test(the_command_line_is_told_as_each_family_has_it),
        cmocka_unit_test(addresses_of_a_profile_have_names),
        cmocka_unit_test(the_list_names_all_paths),
        cmocka_unit_test(samples_without_room_for_their_stack_are_counted_together),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
