#include "talk.h"

#include "protocol/text/json_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TURNS_MAX = 1 << 24 };

/* One line a text: {"client": "0x...", "sent": "..."}; what is no UTF-8 nobody could read back. */
static void record(const struct client *client, const char *direction, const char *text)
{
    static FILE *log;
    const char *path = getenv("ISOSCOPE_WIRE_LOG");
    char name[32];
    json_t *line;

    if (!path)
        return;
    if (!log)
        assert_non_null(log = fopen(path, "w"));
    snprintf(name, sizeof(name), "%p", (const void *)client);
    line = json_pack("{s:s, s:s}", "client", name, direction, text);
    if (line) {
        json_dumpf(line, log, JSON_COMPACT);
        fputc('\n', log);
    }
    json_decref(line);
}

void talk_begin(struct talk *talk)
{
    talk_begin_as(talk, &(struct service_options){ 0 }, false);
}

void talk_begin_as(struct talk *talk, const struct service_options *wish, bool saved)
{
    struct service_options options = *wish;

    options.profile = &talk->profile;
    options.version = "1.2.3";
    options.epoch_ms = fake_epoch_ms;
    options.monotonic_us = fake_monotonic_us;
    fake_profile_init(&talk->profile);
    talk->profile.saved = saved;
    assert_int_equal(service_new(&talk->service, &options), 0);
    assert_int_equal(client_new(&talk->client, talk->service), 0);
}

void talk_end(struct talk *talk)
{
    service_free(talk->service);
    assert_int_equal(talk->profile.snapshots, 0);
}

void talk_send_as(struct client *client, const char *text)
{
    record(client, "sent", text);
    client_receive(client, text, strlen(text));
}

void talk_send(struct talk *talk, const char *text)
{
    talk_send_as(talk->client, text);
}

void talk_get(struct client *client, const char *method, const char *const *arguments, size_t count)
{
    char text[256];

    snprintf(text, sizeof(text), "{\"id\":\"\",\"method\":\"%s\"}", method);
    record(client, "sent", text);
    client_receive_get(client, method, arguments, count);
}

void talk_send_json(struct talk *talk, const json_t *message)
{
    char *text = json_dumps(message, JSON_COMPACT);

    talk_send(talk, text);
    free(text);
}

char *talk_receive_text(struct client *client, size_t size)
{
    struct json_text text = { 0 };
    bool begins, ends = false;
    uint32_t turns = 0;

    while (!ends && client_wants_send(client)) {
        size_t count = client_send(client, json_text_reserve(&text, size), size, &begins, &ends);

        assert_true(count <= size && turns++ < TURNS_MAX);
        assert_int_equal(begins, count && text.length == 0);
        text.length += count;
    }
    assert_true(ends || !text.length);
    if (!text.length) { /* a turn may go by with work for an answer that does not come yet */
        json_text_free(&text);
        return NULL;
    }
    json_text_raw(&text, "", 1);
    record(client, "received", text.data);
    return text.data;
}

json_t *talk_receive(struct talk *talk)
{
    char *text = talk_receive_text(talk->client, 4096);
    json_error_t error;
    json_t *message;

    if (!text)
        return NULL;
    message = json_loads(text, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    if (!message)
        fail_msg("%s in %s", error.text, text);
    assert_true(json_is_object(message));
    free(text);
    return message;
}

json_t *talk_ask(struct talk *talk, const char *method, const char *params)
{
    char request[512];
    json_t *message, *result;

    snprintf(request, sizeof(request), "{\"id\":\"1\",\"method\":\"%s\",\"params\":%s}", method,
             params);
    talk_send(talk, request);
    message = talk_receive(talk);
    assert_non_null(message);
    result = json_incref(json_object_get(message, "result"));
    json_decref(message);
    assert_non_null(result);
    return result;
}

int talk_closed(const struct talk *talk)
{
    const char *reason;
    uint16_t code;

    if (!client_closing(talk->client, &code, &reason))
        return 0;
    assert_true(strlen(reason) <= 120);
    return code;
}
