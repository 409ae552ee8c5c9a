/* The service over one or more clients: queues, waiting, closing, and what is thrown at it. */
#include "talk.h"

#include "protocol/client/client.h"
#include "protocol/events/tagged_samples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char get_version[] = "{\"id\":\"v\",\"method\":\"getVersion\"}";
static const char get_samples[] = "{\"id\":\"s\",\"method\":\"_getCpuSamples\"}";

static void assert_id(struct talk *talk, const char *id)
{
    json_t *message = talk_receive(talk);

    assert_non_null(message);
    assert_string_equal(json_string_value(json_object_get(message, "id")), id);
    json_decref(message);
}

static int error_code(struct talk *talk)
{
    json_t *message = talk_receive(talk);
    int code = (int)json_integer_value(json_object_get(json_object_get(message, "error"), "code"));

    json_decref(message);
    return code;
}

static void other_requests_are_answered_while_names_are_read(void **state)
{
    struct talk talk;

    (void)state;
    talk_begin(&talk);
    talk.profile.pending = true;
    talk_send(&talk, get_samples);
    talk_send(&talk, get_version);
    assert_id(&talk, "v");
    service_poll(talk.service);
    assert_false(client_wants_send(talk.client));
    talk.profile.pending = false;
    service_poll(talk.service);
    assert_id(&talk, "s");
    talk_end(&talk);
}

/* The names came in the middle of the work, and nobody calls again for them. */
static void who_works_when_the_names_come_does_not_wait_for_them(void **state)
{
    char piece[16];
    bool begins, ends;
    struct talk talk;

    (void)state;
    talk_begin(&talk);
    talk.profile.pending = true;
    talk.profile.turns = 3;
    talk_send(&talk, get_samples);
    client_send(talk.client, piece, sizeof(piece), &begins, &ends);
    talk.profile.pending = false;
    service_poll(talk.service);
    assert_id(&talk, "s");
    talk_end(&talk);
}

/* Each has a place in the client's list again and again, and behind others. */
static void few_snapshots_are_held_however_many_are_worked_on(void **state)
{
    char piece[16];
    bool begins, ends;
    struct talk talk;

    (void)state;
    talk_begin(&talk);
    talk.profile.turns = 1000;
    for (int i = 0; i < 6; i++)
        talk_send(&talk, get_samples);
    for (int i = 0; i < 20; i++) {
        client_send(talk.client, piece, sizeof(piece), &begins, &ends);
        service_poll(talk.service);
        assert_in_range(talk.profile.snapshots, 1, 2);
    }
    talk.profile.turns = 0;
    for (int i = 0; i < 6; i++)
        assert_id(&talk, "s");
    talk_end(&talk);
}

static void feeds_are_drained_once_before_samples_are_taken(void **state)
{
    struct talk talk;

    (void)state;
    talk_begin(&talk);
    talk.profile.pending = true;
    talk_send(&talk, get_samples);
    assert_int_equal(talk.profile.synced, 1);
    service_poll(talk.service);
    talk.profile.pending = false;
    service_poll(talk.service);
    assert_int_equal(talk.profile.synced, 1);
    talk_end(&talk);
}

/* Old clients choose their methods by it. */
static void the_asked_protocol_version_is_told(void **state)
{
    static const struct {
        const char *method, *member;
    } asked[] = { { "getVersion", NULL }, { "getSupportedProtocols", "protocols" } };
    struct talk talk;
    struct service_options options = { .profile = &talk.profile,
                                       .version = "1.2.3",
                                       .epoch_ms = fake_epoch_ms,
                                       .monotonic_us = fake_monotonic_us,
                                       .protocol_major = 3,
                                       .protocol_minor = 26 };

    (void)state;
    fake_profile_init(&talk.profile);
    assert_int_equal(service_new(&talk.service, &options), 0);
    assert_int_equal(client_new(&talk.client, talk.service), 0);
    for (int i = 0; i < 2; i++) {
        json_t *result = talk_ask(&talk, asked[i].method, "{}");
        json_t *version =
            asked[i].member ? json_array_get(json_object_get(result, asked[i].member), 0) : result;

        assert_int_equal(json_integer_value(json_object_get(version, "major")), 3);
        assert_int_equal(json_integer_value(json_object_get(version, "minor")), 26);
        json_decref(result);
    }
    talk_end(&talk);
}

static size_t isolates_named(struct talk *talk, const char *name)
{
    json_t *vm = talk_ask(talk, "getVM", "{}"), *isolate;
    size_t found = 0, i;

    json_array_foreach(json_object_get(vm, "isolates"), i, isolate) found +=
        strstr(json_string_value(json_object_get(isolate, "name")), name) != NULL;
    json_decref(vm);
    return found;
}

/* However many threads there are; and one with a name takes the place of one without. */
static void sixteen_threads_are_isolates_at_most(void **state)
{
    struct talk talk;

    (void)state;
    talk_begin(&talk);
    for (int i = 0; i < 20; i++)
        talk.profile.threads[i] =
            (struct profile_thread){ .tid = 100 + i, .name = "spin", .samples = 100 };
    talk.profile.thread_count = 20;
    talk.profile.processes[0].samples = 2000;
    assert_int_equal(isolates_named(&talk, "spin ("), 16);
    talk.profile.threads[20] = (struct profile_thread){ .tid = 120, .name = "named", .samples = 1 };
    talk.profile.thread_count = 21;
    talk.profile.processes[0].samples = 2001;
    assert_int_equal(isolates_named(&talk, "spin ("), 15);
    assert_int_equal(isolates_named(&talk, "named (120)"), 1);
    talk_end(&talk);
}

static void waiting_requests_are_bounded(void **state)
{
    struct talk talk;

    (void)state;
    talk_begin(&talk);
    talk.profile.pending = true;
    for (int i = 0; i < 64; i++)
        talk_send(&talk, get_samples);
    assert_false(client_wants_send(talk.client));
    talk_send(&talk, get_samples);
    assert_int_equal(error_code(&talk), -32000);
    assert_int_equal(talk_closed(&talk), 0);
    talk_end(&talk);
}

/* Snapshots cost memory that no byte count sees: two at a time, the others wait, all are answered.
 */
static void few_snapshots_are_held_however_many_are_asked_for(void **state)
{
    struct talk talk;

    (void)state;
    talk_begin(&talk);
    for (int i = 0; i < 20; i++)
        talk_send(&talk, get_samples);
    assert_int_equal(talk.profile.snapshots, 2);
    for (int i = 0; i < 20; i++)
        assert_id(&talk, "s");
    assert_null(talk_receive(&talk));
    talk_end(&talk);
}

static void a_client_that_does_not_read_is_closed(void **state)
{
    struct service_options options = {
        .version = "1",
        .epoch_ms = fake_epoch_ms,
        .monotonic_us = fake_monotonic_us,
        .queue_bytes_max = 1000,
    };
    struct client *slow, *other;
    struct service *service;
    struct profile profile;
    const char *reason;
    uint16_t code;

    (void)state;
    fake_profile_init(&profile);
    options.profile = &profile;
    assert_int_equal(service_new(&service, &options), 0);
    assert_int_equal(client_new(&slow, service), 0);
    assert_int_equal(client_new(&other, service), 0);
    for (int i = 0; i < 20; i++)
        talk_send_as(slow, get_version);
    assert_true(client_closing(slow, &code, &reason));
    assert_int_equal(code, 1008);
    assert_false(client_wants_send(slow));
    assert_false(client_closing(other, &code, &reason));
    client_free(slow);
    service_free(service);
}

/* A client that offers "echo" and listens to Extension, and one that sends much to it. */
struct pair {
    struct talk talk; /* client: the victim */
    struct client *sender;
};

static void pair_begin(struct pair *pair)
{
    talk_begin_as(&pair->talk, &(struct service_options){ .queue_bytes_max = 2000 }, false);
    json_decref(talk_ask(&pair->talk, "registerService", "{\"service\":\"echo\",\"alias\":\"E\"}"));
    json_decref(talk_ask(&pair->talk, "streamListen", "{\"streamId\":\"Extension\"}"));
    assert_int_equal(client_new(&pair->sender, pair->talk.service), 0);
}

static void pair_end(struct pair *pair)
{
    client_free(pair->sender);
    talk_end(&pair->talk);
}

/* The error's code of what the sender gets for method with 1,050 bytes of text; 0: none. */
static int send_much(struct pair *pair, const char *method, const char *before)
{
    char text[1400], *answer;

    snprintf(text, sizeof(text),
             "{\"id\":\"c\",\"method\":\"%s\",\"params\":{%s{\"text\":\"%01050d\"}}}", method,
             before, 0);
    talk_send_as(pair->sender, text);
    answer = talk_receive_text(pair->sender, 4096);

    json_t *message = answer ? json_loads(answer, 0, NULL) : NULL;
    int code = (int)json_integer_value(json_object_get(json_object_get(message, "error"), "code"));

    json_decref(message);
    free(answer);
    return code;
}

static void check_nobody_is_closed_by_what_another_sends(const char *method, const char *before)
{
    struct pair pair;
    json_t *message;

    pair_begin(&pair);
    assert_int_equal(send_much(&pair, method, before), 0);
    assert_int_equal(send_much(&pair, method, before), -32000);
    assert_int_equal(talk_closed(&pair.talk), 0);
    talk_send(&pair.talk, get_version); /* has room of its own */
    for (int i = 0; i < 2; i++) {
        message = talk_receive(&pair.talk);
        assert_non_null(message);
        json_decref(message);
    }
    assert_int_equal(send_much(&pair, method, before), 0);
    pair_end(&pair);
}

static void a_call_that_its_service_has_no_room_for_is_refused(void **state)
{
    (void)state;
    check_nobody_is_closed_by_what_another_sends("s0.echo", "\"given\":");
}

static void an_event_that_a_listener_has_no_room_for_is_refused(void **state)
{
    (void)state;
    check_nobody_is_closed_by_what_another_sends(
        "postEvent", "\"stream\":\"Extension\",\"eventKind\":\"x\",\"eventData\":");
}

/* The service chooses how long its answer is. */
static void an_answer_that_its_caller_has_no_room_for_fails_and_closes_nobody(void **state)
{
    struct pair pair;
    char text[2400], *answer;

    (void)state;
    pair_begin(&pair);
    talk_send_as(pair.sender, "{\"id\":\"c\",\"method\":\"s0.echo\",\"params\":{}}");
    json_decref(talk_receive(&pair.talk));
    snprintf(text, sizeof(text), "{\"id\":\"sr0\",\"result\":{\"text\":\"%02100d\"}}", 0);
    talk_send(&pair.talk, text);
    answer = talk_receive_text(pair.sender, 4096);
    assert_non_null(strstr(answer, "found no room"));
    free(answer);
    pair_end(&pair);
}

/* It would be closed if all were put before it at once. */
static void who_reads_samples_of_a_tag_slowly_gets_all_of_them(void **state)
{
    enum { SAMPLES = 30000, QUEUE_BYTES = 2 * 1024 * 1024 };
    json_int_t samples = 0;
    unsigned events = 0;
    json_t *message;
    struct talk talk;

    (void)state;
    talk_begin_as(&talk, &(struct service_options){ .queue_bytes_max = QUEUE_BYTES }, false);
    talk.profile.repeat = SAMPLES;
    json_decref(talk_ask(&talk, "streamListen", "{\"streamId\":\"Profiler\"}"));
    talk_send(&talk, "{\"id\":\"t\",\"method\":\"streamCpuSamplesWithUserTag\","
                     "\"params\":{\"userTags\":[\"spin\"]}}");
    while ((message = talk_receive(&talk))) {
        json_t *told = json_object_get(json_object_get(json_object_get(message, "params"), "event"),
                                       "cpuSamples");
        json_int_t count = json_integer_value(json_object_get(told, "sampleCount"));

        assert_in_range(count, told ? 1 : 0, 1000);
        samples += count;
        events += count > 0;
        json_decref(message);
    }
    assert_int_equal(talk_closed(&talk), 0);
    assert_int_equal(samples, SAMPLES);
    assert_int_equal(events, SAMPLES / 1000);
    talk_end(&talk);
}

static void events_of_tags_come_when_the_names_came_meanwhile(void **state)
{
    char piece[16];
    bool begins, ends;
    json_t *message;
    struct talk talk;

    (void)state;
    talk_begin(&talk);
    json_decref(talk_ask(&talk, "streamListen", "{\"streamId\":\"Profiler\"}"));
    talk.profile.pending = true;
    talk.profile.turns = 3;
    json_decref(talk_ask(&talk, "streamCpuSamplesWithUserTag", "{\"userTags\":[\"spin\"]}"));
    client_send(talk.client, piece, sizeof(piece), &begins, &ends);
    talk.profile.pending = false;
    service_poll(talk.service);
    message = talk_receive(&talk);
    assert_non_null(message);
    json_decref(message);
    talk_end(&talk);
}

/* How many samples the events tell of that the client gets now. */
static json_int_t tagged_samples(struct talk *talk)
{
    json_int_t samples = 0;
    json_t *message;

    while ((message = talk_receive(talk))) {
        samples += json_integer_value(json_object_get(
            json_object_get(json_object_get(json_object_get(message, "params"), "event"),
                            "cpuSamples"),
            "sampleCount"));
        json_decref(message);
    }
    return samples;
}

static void listen_to_a_tag(struct talk *talk)
{
    json_decref(talk_ask(talk, "streamListen", "{\"streamId\":\"Profiler\"}"));
    talk_send(talk, "{\"id\":\"t\",\"method\":\"streamCpuSamplesWithUserTag\","
                    "\"params\":{\"userTags\":[\"spin\"]}}");
}

/* The program may sleep from now on, and then nothing but the time brings them. */
static void samples_that_come_soon_after_others_are_told_though_no_more_come(void **state)
{
    uint32_t ms;
    struct talk talk;

    (void)state;
    talk_begin(&talk);
    listen_to_a_tag(&talk);
    assert_int_equal(tagged_samples(&talk), 1);
    talk.profile.repeat = 2;
    ms = service_poll(talk.service);
    assert_int_equal(tagged_samples(&talk), 0);
    assert_in_range(ms, 1, 1000);
    fake_monotonic_pass(ms * INT64_C(1000));
    assert_int_equal(service_poll(talk.service), 0);
    assert_int_equal(tagged_samples(&talk), 1);
    talk_end(&talk);
}

static void add_process(struct talk *talk)
{
    struct profile *profile = &talk->profile;

    profile->processes[profile->process_count] = profile->processes[0];
    profile->processes[profile->process_count].id = 1000 + profile->process_count;
    profile->processes[profile->process_count].pid = 1000 + (int32_t)profile->process_count;
    profile->process_count++;
}

static unsigned events(struct talk *talk)
{
    unsigned count = 0;

    for (json_t *event; (event = talk_receive(talk)); count++)
        json_decref(event);
    return count;
}

static void of_many_processes_that_come_clients_are_told_at_intervals(void **state)
{
    uint32_t ms;
    struct talk talk;

    (void)state;
    talk_begin(&talk);
    while (talk.profile.process_count < 100)
        add_process(&talk);
    service_poll(talk.service);
    json_decref(talk_ask(&talk, "streamListen", "{\"streamId\":\"Isolate\"}"));
    fake_monotonic_pass(1000000);
    add_process(&talk);
    assert_int_equal(service_poll(talk.service), 0);
    assert_true(events(&talk) >= 1);
    add_process(&talk);
    ms = service_poll(talk.service);
    assert_int_equal(events(&talk), 0);
    assert_in_range(ms, 1, 100);
    fake_monotonic_pass(ms * INT64_C(1000));
    assert_int_equal(service_poll(talk.service), 0);
    assert_true(events(&talk) >= 1);
    talk_end(&talk);
}

static void who_had_no_room_for_samples_of_a_tag_gets_them_when_it_has(void **state)
{
    struct talk talk;

    (void)state;
    talk_begin(&talk);
    listen_to_a_tag(&talk);
    assert_int_equal(tagged_samples(&talk), 1);
    while (talk.client->outbox.bytes < TAGGED_BYTES_MAX)
        talk_send(&talk, "{\"id\":\"d\",\"method\":\"rpc.discover\"}");
    talk.profile.repeat = 2;
    fake_monotonic_pass(1000000);
    service_poll(talk.service);
    assert_int_equal(tagged_samples(&talk), 1);
    talk_end(&talk);
}

static void assert_hears(struct talk *talk, const char *kind)
{
    char *text = talk_receive_text(talk->client, 4096);

    assert_non_null(text);
    assert_non_null(strstr(text, kind));
    free(text);
}

static void stalls_that_a_listener_has_no_room_for_come_later_in_their_order(void **state)
{
    struct talk talk;

    (void)state;
    talk_begin_as(&talk, &(struct service_options){ .queue_bytes_max = 2600 }, false);
    json_decref(talk_ask(&talk, "streamListen", "{\"streamId\":\"Extension\"}"));
    fake_stall_begins(&talk.profile);
    fake_equal_stalls(&talk.profile);
    fake_stall_ends(&talk.profile);
    service_poll(talk.service);
    assert_hears(&talk,
                 "\"extensionKind\":\"Isoscope.Stall.Begin\",\"extensionData\":{\"number\":2");
    assert_hears(&talk, "\"extensionKind\":\"Isoscope.Stall.End\",\"extensionData\":{\"number\":2");
    assert_null(talk_receive_text(talk.client, 4096));
    assert_in_range(service_poll(talk.service), 0, 1000);
    assert_hears(&talk,
                 "\"extensionKind\":\"Isoscope.Stall.Begin\",\"extensionData\":{\"number\":1");
    service_poll(talk.service);
    assert_hears(&talk, "\"extensionKind\":\"Isoscope.Stall.End\",\"extensionData\":{\"number\":1");
    service_poll(talk.service);
    assert_null(talk_receive_text(talk.client, 4096));
    assert_int_equal(talk_closed(&talk), 0);
    talk_end(&talk);
}

static bool hears_of_samples(struct talk *talk)
{
    char *text = talk_receive_text(talk->client, 4096);
    bool hears = text && strstr(text, "_SamplesAvailable");

    free(text);
    return hears;
}

static void that_there_are_samples_is_told_though_no_more_come(void **state)
{
    uint32_t ms;
    struct talk talk;

    (void)state;
    talk_begin(&talk);
    json_decref(talk_ask(&talk, "streamListen", "{\"streamId\":\"Profiler\"}"));
    talk.profile.processes[0].samples++;
    assert_int_equal(service_poll(talk.service), 0);
    assert_true(hears_of_samples(&talk));
    talk.profile.processes[0].samples++;
    ms = service_poll(talk.service);
    assert_false(hears_of_samples(&talk));
    assert_in_range(ms, 1, 1000);
    fake_monotonic_pass(ms * INT64_C(1000));
    assert_int_equal(service_poll(talk.service), 0);
    assert_true(hears_of_samples(&talk));
    talk_end(&talk);
}

static void samples_that_come_behind_a_clear_are_told(void **state)
{
    struct talk talk;

    (void)state;
    talk_begin(&talk);
    json_decref(talk_ask(&talk, "streamListen", "{\"streamId\":\"Profiler\"}"));
    talk.profile.processes[0].samples = 1000;
    service_poll(talk.service);
    assert_true(hears_of_samples(&talk));
    talk_send(&talk,
              "{\"method\":\"clearCpuSamples\",\"params\":{\"isolateId\":\"isolates/100\"}}");
    assert_false(hears_of_samples(&talk)); /* but of the clear */
    talk.profile.processes[0].samples = 2; /* before anybody looks */
    fake_monotonic_pass(1000000);
    service_poll(talk.service);
    assert_true(hears_of_samples(&talk));
    talk_end(&talk);
}

static void events_reach_every_client_that_listens(void **state)
{
    static const char listen[] =
        "{\"id\":1,\"method\":\"streamListen\",\"params\":{\"streamId\":\"VM\"}}";
    struct client *other;
    struct talk talk;
    char *text;

    (void)state;
    talk_begin(&talk);
    assert_int_equal(client_new(&other, talk.service), 0);
    talk_send_as(other, listen);
    free(talk_receive_text(other, 100));
    json_decref(talk_ask(&talk, "setFlag", "{\"name\":\"profile_period\",\"value\":\"250\"}"));
    text = talk_receive_text(other, 100);
    assert_non_null(text);
    assert_non_null(strstr(text, "\"newValue\":\"250\""));
    free(text);
    assert_null(talk_receive(&talk));
    talk_end(&talk);
}

static int64_t now_us;

static int64_t clock_us(void)
{
    return now_us;
}

static void a_client_that_asks_too_fast_is_told_so_until_the_second_ends(void **state)
{
    struct talk talk;
    struct service_options options = { .profile = &talk.profile,
                                       .version = "1.2.3",
                                       .epoch_ms = fake_epoch_ms,
                                       .monotonic_us = clock_us,
                                       .rate_max = 2 };

    (void)state;
    now_us = 5000000;
    talk = (struct talk){ 0 };
    fake_profile_init(&talk.profile);
    assert_int_equal(service_new(&talk.service, &options), 0);
    assert_int_equal(client_new(&talk.client, talk.service), 0);
    for (int i = 0; i < 4; i++)
        talk_send(&talk, get_version);
    assert_int_equal(error_code(&talk), 0);
    assert_int_equal(error_code(&talk), 0);
    assert_int_equal(error_code(&talk), -32000);
    assert_int_equal(error_code(&talk), -32000);
    now_us += 1000000;
    talk_send(&talk, get_version);
    assert_int_equal(error_code(&talk), 0);
    talk_end(&talk);
}

static void a_get_is_a_request_with_strings_and_an_empty_id(void **state)
{
    static const char *const arguments[] = { "isolateId=isolates/9", "limit", "a\"\xff=b=\n" };
    struct talk talk;
    char *text;

    (void)state;
    talk_begin(&talk);
    talk_get(talk.client, "nobodyKnows", arguments, 3);
    text = talk_receive_text(talk.client, 4096);
    assert_string_equal(text,
                        "{\"jsonrpc\":\"2.0\",\"id\":\"\",\"error\":{\"code\":-32601,\"message\":"
                        "\"Method not found\",\"data\":{\"request\":{\"method\":\"nobodyKnows\","
                        "\"params\":{\"isolateId\":\"isolates/9\",\"limit\":\"\","
                        "\"a\\\"\xef\xbf\xbd\":\"b=\\n\"}}}}}");
    free(text);
    talk_get(talk.client, "getVersion", NULL, 0);
    assert_id(&talk, "");
    talk_end(&talk);
}

static void processes_are_looked_at_when_they_have_changed(void **state)
{
    struct talk talk;
    unsigned looks;

    (void)state;
    talk_begin(&talk);
    json_decref(talk_ask(&talk, "getVM", "{}"));
    looks = talk.profile.looks;
    json_decref(talk_ask(&talk, "getVM", "{}"));
    service_poll(talk.service);
    assert_int_equal(talk.profile.looks, looks);
    talk.profile.processes[0].samples++;
    json_decref(talk_ask(&talk, "getVM", "{}"));
    assert_true(talk.profile.looks > looks);
    talk_end(&talk);
}

static void answer_others_meanwhile(const char *method)
{
    struct client *other;
    bool begins, ends = false;
    char piece[4096], ask[128];
    struct talk talk;
    int answered = 0;

    talk_begin(&talk);
    talk.profile.repeat = 10000;
    talk.service->options.queue_bytes_max = 1000;
    assert_int_equal(client_new(&other, talk.service), 0);
    snprintf(ask, sizeof(ask),
             "{\"id\":\"1\",\"method\":\"%s\",\"params\":{\"isolateId\":\"isolates/100\"}}",
             method);
    talk_send(&talk, ask);
    while (!ends) {
        char *answer;

        assert_true(client_wants_send(talk.client)); /* if only for another turn's work */
        client_send(talk.client, piece, sizeof(piece), &begins, &ends);
        talk_send_as(other, "{\"id\":\"2\",\"method\":\"getVersion\"}");
        answer = talk_receive_text(other, sizeof(piece));
        assert_non_null(strstr(answer, "\"Version\""));
        free(answer);
        answered++;
    }
    assert_true(answered > 100);
    talk_end(&talk);
}

/* The replies are megabytes, beyond all that may be queued; nobody waits for their end. */
static void others_are_answered_between_the_pieces_of_a_reply(void **state)
{
    static const char *const methods[] = { "getCpuSamples", "_getCpuSamples",
                                           "getPerfettoCpuSamples", "_getCpuProfileTimeline" };

    (void)state;
    for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++)
        answer_others_meanwhile(methods[i]);
}

/* A tree is as large as the stacks differ, which here they do not. */
static void an_old_profile_holds_a_snapshot_while_it_is_read(void **state)
{
    static const char ask[] = "{\"id\":\"s\",\"method\":\"_getCpuProfile\","
                              "\"params\":{\"isolateId\":\"isolates/100\"}}";
    struct talk talk;

    (void)state;
    talk_begin(&talk);
    for (int i = 0; i < 5; i++)
        talk_send(&talk, ask);
    assert_int_equal(talk.profile.snapshots, 2);
    for (int i = 0; i < 5; i++)
        assert_id(&talk, "s");
    assert_null(talk_receive(&talk));
    talk_end(&talk);
}

static void a_client_may_go_in_the_middle_of_a_reply(void **state)
{
    struct talk talk;
    char buffer[10];
    bool begins, ends;

    (void)state;
    talk_begin(&talk);
    talk_send(&talk, get_samples);
    talk_send(&talk, get_samples);
    assert_int_equal(client_send(talk.client, buffer, sizeof(buffer), &begins, &ends),
                     sizeof(buffer));
    client_free(talk.client);
    service_poll(talk.service);
    talk_end(&talk);
}

static void a_binary_message_closes_with_4001(void **state)
{
    struct talk talk;

    (void)state;
    talk_begin(&talk);
    client_receive_binary(talk.client);
    assert_int_equal(talk_closed(&talk), 4001);
    talk_end(&talk);
}

static void a_close_reason_is_whole_characters(void **state)
{
    char text[400];
    struct talk talk;

    (void)state;
    for (int shift = 0; shift < 4; shift++) {
        memset(text, 'a', sizeof(text));
        for (size_t i = (size_t)shift; i + 2 < sizeof(text); i += 3)
            memcpy(text + i, "\xe2\x82\xac", 3);
        talk_begin(&talk);
        client_receive(talk.client, text, sizeof(text));
        assert_int_equal(talk_closed(&talk), 4000);
        talk_end(&talk);
    }
}

static void nesting_without_end_only_closes_its_client(void **state)
{
    enum { DEPTH = 100000 };
    static char text[DEPTH];
    struct talk talk;

    (void)state;
    memset(text, '[', DEPTH);
    talk_begin(&talk);
    client_receive(talk.client, text, DEPTH);
    assert_int_equal(talk_closed(&talk), 4000);
    talk_end(&talk);
}

static void four_mebibytes_of_parameters_are_fine(void **state)
{
    enum { PAD = 4 * 1024 * 1024 };
    static char text[PAD + 100];
    size_t length;
    struct talk talk;

    (void)state;
    length =
        (size_t)sprintf(text, "{\"id\":\"v\",\"method\":\"getVersion\",\"params\":{\"pad\":\"");
    memset(text + length, 'x', PAD);
    strcpy(text + length + PAD, "\"}}");
    talk_begin(&talk);
    talk_send(&talk, text);
    assert_id(&talk, "v");
    talk_end(&talk);
}

static uint32_t next_random(uint32_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed;
}

/* Ten thousand requests with bytes exchanged: each is answered, ignored or closed upon; what comes
 * out is JSON (talk_receive looks), and the next client is served as ever. */
static void broken_messages_never_harm_the_service(void **state)
{
    static const char *const seeds[] = {
        "{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"method\":\"getIsolate\",\"params\":{\"isolateId\":"
        "\"isolates/100\"}}",
        "{\"id\":12345678901234567890,\"method\":\"_getCpuSamples\",\"params\":{\"timestamp\":1,"
        "\"count\":2}}",
        "{\"id\":1,\"method\":\"lookupPackageUris\",\"params\":{\"isolateId\":\"isolates/"
        "100\",\"uris\":[1,\"a\"]}}",
        "{\"id\":1.5,\"method\":\"setFlag\",\"params\":{\"name\":\"profile_period\",\"value\":250}"
        "}",
        "{\"id\":null,\"method\":\"streamListen\",\"params\":{\"streamId\":\"Isolate\"}}",
    };
    static const char bytes[] = "\"{}[]:,\\0159-.eE truefalsn\x01\xff\xc3";
    uint32_t seed = 2463534242u;
    struct talk talk;

    (void)state;
    talk_begin(&talk);
    for (int i = 0; i < 10000; i++) {
        char text[200];
        json_t *message;

        strcpy(text, seeds[next_random(&seed) % (sizeof(seeds) / sizeof(*seeds))]);
        for (uint32_t changes = next_random(&seed) % 4; changes; changes--)
            text[next_random(&seed) % strlen(text)] =
                bytes[next_random(&seed) % (sizeof(bytes) - 1)];
        talk_send(&talk, text);
        while ((message = talk_receive(&talk)))
            json_decref(message);
        if (talk_closed(&talk)) {
            client_free(talk.client);
            assert_int_equal(client_new(&talk.client, talk.service), 0);
        }
    }
    talk_send(&talk, get_version);
    assert_id(&talk, "v");
    talk_end(&talk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_requests_are_answered_while_names_are_read),
        cmocka_unit_test(who_works_when_the_names_come_does_not_wait_for_them),
        cmocka_unit_test(events_of_tags_come_when_the_names_came_meanwhile),
        cmocka_unit_test(samples_that_come_soon_after_others_are_told_though_no_more_come),
        cmocka_unit_test(processes_are_looked_at_when_they_have_changed),
        cmocka_unit_test(of_many_processes_that_come_clients_are_told_at_intervals),
        cmocka_unit_test(who_had_no_room_for_samples_of_a_tag_gets_them_when_it_has),
        cmocka_unit_test(stalls_that_a_listener_has_no_room_for_come_later_in_their_order),
        cmocka_unit_test(that_there_are_samples_is_told_though_no_more_come),
        cmocka_unit_test(samples_that_come_behind_a_clear_are_told),
        cmocka_unit_test(few_snapshots_are_held_however_many_are_worked_on),
        cmocka_unit_test(feeds_are_drained_once_before_samples_are_taken),
        cmocka_unit_test(the_asked_protocol_version_is_told),
        cmocka_unit_test(sixteen_threads_are_isolates_at_most),
        cmocka_unit_test(waiting_requests_are_bounded),
        cmocka_unit_test(few_snapshots_are_held_however_many_are_asked_for),
        cmocka_unit_test(a_client_that_does_not_read_is_closed),
        cmocka_unit_test(a_call_that_its_service_has_no_room_for_is_refused),
        cmocka_unit_test(an_event_that_a_listener_has_no_room_for_is_refused),
        cmocka_unit_test(an_answer_that_its_caller_has_no_room_for_fails_and_closes_nobody),
        cmocka_unit_test(who_reads_samples_of_a_tag_slowly_gets_all_of_them),
        cmocka_unit_test(events_reach_every_client_that_listens),
        cmocka_unit_test(a_client_that_asks_too_fast_is_told_so_until_the_second_ends),
        cmocka_unit_test(a_get_is_a_request_with_strings_and_an_empty_id),
        cmocka_unit_test(others_are_answered_between_the_pieces_of_a_reply),
        cmocka_unit_test(an_old_profile_holds_a_snapshot_while_it_is_read),
        cmocka_unit_test(a_client_may_go_in_the_middle_of_a_reply),
        cmocka_unit_test(a_binary_message_closes_with_4001),
        cmocka_unit_test(a_close_reason_is_whole_characters),
        cmocka_unit_test(nesting_without_end_only_closes_its_client),
        cmocka_unit_test(four_mebibytes_of_parameters_are_fine),
        cmocka_unit_test(broken_messages_never_harm_the_service),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
