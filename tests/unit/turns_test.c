/*
 * No call at the service's door does more than a turn's work (work.h), whatever was asked for: over
 * a profile of many samples. Counted, never timed.
 */
#include "protocol/client/client.h"
#include "protocol/events/tagged_samples.h"
#include "protocol/service.h"

#include "fake_feed.h"
#include "sampler/profile/parts.h"
#include "sampler/profile/intake/process.h"
#include "sampler/profile/intake/processes.h"
#include "sampler/profile/profile.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* With the address sanitizer each takes seven times as long, with the thread sanitizer thirty. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SAMPLES = 30000 };
#else
enum { SAMPLES = 100000 };
#endif

enum {
    DEPTH = 32,
    TIDS = 3,
    FEW = 16,        /* addresses of an inner frame: 65,536 different stacks */
    EVER_NEW = 4100, /* each sample's stack is a new one */
    PIECE_BYTES = 32 * 1024,
    FILES = 20000,
};

struct fixture {
    struct profile *profile;
    struct fake_feed feed;
    uint64_t id;
    struct service *service;
    struct client *client, *other;
    struct owner_thread *threads[TIDS];
    uint64_t random;
    uint32_t module, turns;
};

static int64_t epoch_ms(void)
{
    return 1700000000000;
}

static int64_t monotonic_us(void)
{
    return SAMPLES * INT64_C(1000);
}

static uint64_t draw(struct fixture *fixture, uint64_t below)
{
    fixture->random = fixture->random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (fixture->random >> 33) % below;
}

/* The outer frames vary little, the inner ones more, as in real programs. */
static void add_samples(struct fixture *fixture, uint64_t addresses)
{
    uint64_t frames[DEPTH];
    struct store_sample sample = { .weight = 1000000, .depth = DEPTH, .frames = frames };

    for (uint32_t i = 0; i < SAMPLES; i++) {
        /* One thread has a sample now and then, as sleepers have. */
        sample.thread = fixture->threads[i % 500 ? i % 2 : 2];
        for (uint32_t frame = 0; frame < DEPTH; frame++)
            frames[frame] = FRAME_KEY(
                fixture->module, 16 * (frame << 16 | (frame < 4 ? draw(fixture, addresses) : 0)));
        sample.timestamp_us = i * INT64_C(1000);
        assert_int_equal(store_add(fixture->profile->stores.of[SAMPLES_OF_TIME], &sample), 0);
    }
}

static void open_service(struct fixture *fixture)
{
    struct service_options options = { .profile = fixture->profile,
                                       .version = "0",
                                       .epoch_ms = epoch_ms,
                                       .monotonic_us = monotonic_us };

    assert_int_equal(service_new(&fixture->service, &options), 0);
    assert_int_equal(client_new(&fixture->client, fixture->service), 0);
    assert_int_equal(client_new(&fixture->other, fixture->service), 0);
}

static int open_fixture(void **state)
{
    static const char *const names[TIDS] = { "main", "worker", "sleeper" };
    struct profile_options options = { .settings.enabled = true,
                                       .no_symbols = true,
                                       .store_bytes = (size_t)256 << 20 };
    struct profile_peer peer = {
        .pid = getpid(), .clock = -1, .faults = -1, .exe = "/usr/bin/app"
    };
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    *state = fixture;
    fake_feed_open(&fixture->feed, getpid());
    if (profile_new(&fixture->profile, &options) < 0 ||
        profile_attach(fixture->profile, fake_feed_memfd(&fixture->feed), &peer, &fixture->id) < 0)
        return -1;
    for (int i = 0; i < TIDS; i++)
        if (owner_thread_new(
                &fixture->threads[i],
                processes_at(fixture->profile->processes, 0)->owners.of[SAMPLES_OF_TIME],
                getpid() + i, names[i]) < 0)
            return -1;
    fixture->module =
        registry_number(fixture->profile->registry, "/usr/bin/app", (uint8_t[]){ 1 }, 1);
    open_service(fixture);
    return 0;
}

static int close_fixture(void **state)
{
    struct fixture *fixture = *state;

    service_free(fixture->service);
    for (int i = 0; i < TIDS; i++)
        owner_thread_release(fixture->threads[i]);
    profile_free(fixture->profile);
    fake_feed_close(&fixture->feed);
    free(fixture);
    return 0;
}

static void end_turn(struct fixture *fixture)
{
    fixture->turns++;
    assert_true(fixture->service->work >= -WORK_OVER);
}

static void send_text(struct fixture *fixture, struct client *client, const char *text)
{
    client_receive(client, text, strlen(text));
    end_turn(fixture);
}

/* One call of client_send; whether the message went on. */
static size_t send_piece(struct fixture *fixture, struct client *client, struct json_text *text,
                         bool *ends)
{
    char *at = json_text_reserve(text, PIECE_BYTES);
    bool begins;
    size_t count;

    assert_non_null(at);
    count = client_send(client, at, PIECE_BYTES, &begins, ends);
    end_turn(fixture);
    text->length += count;
    return count;
}

/* Between two calls the other client's request is answered in one. */
static void answer_the_other(struct fixture *fixture)
{
    struct json_text text = { 0 };
    bool ends = false;

    send_text(fixture, fixture->other, "{\"id\":\"o\",\"method\":\"getVersion\"}");
    assert_true(send_piece(fixture, fixture->other, &text, &ends) > 0 && ends);
    json_text_free(&text);
}

/* The whole next message, as text. */
static struct json_text read_message(struct fixture *fixture)
{
    struct json_text text = { 0 };
    bool ends = false;

    while (!ends) {
        assert_true(client_wants_send(fixture->client));
        send_piece(fixture, fixture->client, &text, &ends);
        if (fixture->turns % 64 == 0)
            answer_the_other(fixture);
    }
    return text;
}

static void ask(struct fixture *fixture, const char *method, const char *params)
{
    char request[512];
    struct json_text text;

    snprintf(request, sizeof(request),
             "{\"id\":\"1\",\"method\":\"%s\",\"params\":{\"isolateId\":\"isolates/%d\"%s}}",
             method, (int)fixture->id, params);
    send_text(fixture, fixture->client, request);
    text = read_message(fixture);
    json_text_raw(&text, "", 1);
    if (!strstr(text.data, "\"result\":") || strcmp(text.data + text.length - 3, "}}"))
        fail_msg("%s: %.200s", method, text.data);
    json_text_free(&text);
}

static void ask_all(struct fixture *fixture)
{
    ask(fixture, "getCpuSamples", "");
    ask(fixture, "getCpuSamples", ",\"timeOriginMicros\":1,\"timeExtentMicros\":70000000");
    ask(fixture, "_getCpuSamples", "");
    ask(fixture, "_getCpuSamples", ",\"count\":90000");
    ask(fixture, "getCachedCpuSamples", ",\"userTag\":\"sleeper\"");
    ask(fixture, "getPerfettoCpuSamples", "");
    ask(fixture, "getPerfettoVMTimelineWithCpuSamples", ",\"timeOriginMicros\":0");
    ask(fixture, "getStack", "");
    ask(fixture, "_getCpuSamples", ",\"form\":\"table\"");
    ask(fixture, "_getCpuProfile", ",\"tags\":\"UserVM\"");
    ask(fixture, "_getCpuProfile", ",\"tags\":\"None\"");
    ask(fixture, "_getCpuProfileTimeline", "");
    ask(fixture, "getSourceReport", ",\"reports\":[\"_Profile\"]");
}

static void few_stacks_are_told_in_short_turns(void **state)
{
    struct fixture *fixture = *state;

    add_samples(fixture, FEW);
    ask_all(fixture);
    /* It takes as many as there is work. */
    assert_true(fixture->turns > 100);
}

static void ever_new_stacks_are_told_in_short_turns(void **state)
{
    struct fixture *fixture = *state;

    add_samples(fixture, EVER_NEW);
    ask_all(fixture);
}

/* Their text is composed a piece at a time, as samples are. */
static void many_scripts_are_told_in_short_turns(void **state)
{
    struct fixture *fixture = *state;
    uint32_t module =
                 registry_number(fixture->profile->registry, "/home/user/app", (uint8_t[]){ 2 }, 1),
             before;
    char file[32];

    for (uint64_t i = 0; i < FILES; i++) {
        struct function_source source = { .module = module,
                                          .start = 16 * i,
                                          .name = "f",
                                          .full_name = "f()",
                                          .raw_name = "f",
                                          .file = file };

        snprintf(file, sizeof(file), "/src/%llu.c", (unsigned long long)i);
        assert_int_not_equal(functions_number(fixture->profile->functions, &source), 0);
    }
    module_set_add(&processes_at(fixture->profile->processes, 0)->met, module);
    before = fixture->turns;
    ask(fixture, "getScripts", "");
    assert_true(fixture->turns - before > FILES / 1000);
}

static void events_of_many_samples_come_in_short_turns(void **state)
{
    struct fixture *fixture = *state;
    uint32_t events = 0;

    add_samples(fixture, FEW);
    ask(fixture, "streamListen", ",\"streamId\":\"Profiler\"");
    send_text(
        fixture, fixture->client,
        "{\"method\":\"streamCpuSamplesWithUserTag\",\"params\":{\"userTags\":[\"worker\"]}}");
    while (client_wants_send(fixture->client)) {
        struct json_text text = { 0 };
        bool ends = false;

        while (!ends && client_wants_send(fixture->client)) {
            send_piece(fixture, fixture->client, &text, &ends);
            /* It is composed as a whole, so not at the end of a turn that took its samples. */
            assert_true(fixture->service->work >= -WORK_TURN / 4);
        }
        events += ends;
        json_text_free(&text);
    }
    assert_true(events >= SAMPLES / 2 / TAGGED_SAMPLES_MAX);
}

/* Two are begun, and the others wait; so does none for ever. */
static void requests_take_turns(void **state)
{
    struct fixture *fixture = *state;
    char request[256];

    add_samples(fixture, FEW);
    for (int i = 0; i < 5; i++) {
        snprintf(request, sizeof(request),
                 "{\"id\":\"%d\",\"method\":\"%s\",\"params\":{\"isolateId\":\"isolates/%d\"}}", i,
                 i % 2 ? "getStack" : "getCpuSamples", (int)fixture->id);
        send_text(fixture, fixture->client, request);
    }
    for (int i = 0; i < 5; i++) {
        struct json_text text = read_message(fixture);

        json_text_free(&text);
    }
    assert_false(client_wants_send(fixture->client));
    assert_int_equal(fixture->client->waiting_count, 0);
}

static void a_client_may_go_while_its_request_is_worked_on(void **state)
{
    struct fixture *fixture = *state;
    char request[256];

    add_samples(fixture, FEW);
    snprintf(
        request, sizeof(request),
        "{\"id\":\"1\",\"method\":\"getCpuSamples\",\"params\":{\"isolateId\":\"isolates/%d\"}}",
        (int)fixture->id);
    send_text(fixture, fixture->client, request);
    assert_true(client_wants_send(fixture->client));
    assert_non_null(fixture->client->waiting);
    client_free(fixture->client);
    service_poll(fixture->service);
    end_turn(fixture);
}

#define TURNS_TEST(test) cmocka_unit_test_setup_teardown(test, open_fixture, close_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TURNS_TEST(few_stacks_are_told_in_short_turns),
        TURNS_TEST(ever_new_stacks_are_told_in_short_turns),
        TURNS_TEST(many_scripts_are_told_in_short_turns),
        TURNS_TEST(events_of_many_samples_come_in_short_turns),
        TURNS_TEST(requests_take_turns),
        TURNS_TEST(a_client_may_go_while_its_request_is_worked_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
