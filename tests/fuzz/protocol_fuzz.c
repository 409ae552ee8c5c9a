/*
 * protocol_fuzz.c - any conversation of four clients with the service over the fake profile.
 *
 * Lines: a client's number and its message, or a '!' and what happens: p names are being read or
 * have been, e a process ends, c the last client goes, r client 0 reads a little, s a poll, m more
 * samples. Sanitizers judge; and each text that comes must be one whole JSON object of good UTF-8,
 * no client may be left without an answer that it can read, and no snapshot may stay.
 */
#include "request_mutator.h"

#include "protocol/text/json_writer.h"
#include "protocol/service.h"
#include "tests/protocol/fake_profile.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { CLIENTS = 4, PIECE = 512, MESSAGE_MAX = 1 << 26 };

struct reader {
    struct client *client;
    struct json_text text; /* of a message that is not whole yet */
};

struct scene {
    struct profile profile;
    struct service *service;
    struct reader readers[CLIENTS];
    unsigned last;
};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t size_max, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t size_max);

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t size_max, unsigned seed)
{
    /* One in eight is cut without knowing the grammar: what is no JSON has to be tried too. */
    size_t mutated = seed % 8 ? request_mutate(bytes, size, size_max, seed) : 0;

    return mutated ? mutated : LLVMFuzzerMutate(bytes, size, size_max);
}

static void check_message(const struct json_text *text)
{
    json_t *message =
        json_loadb(text->data, text->length, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);

    if (!json_is_object(message))
        abort();
    json_decref(message);
}

static void read_piece(struct reader *reader, size_t size)
{
    bool begins, ends;
    char *at = json_text_reserve(&reader->text, size);
    size_t count = at ? client_send(reader->client, at, size, &begins, &ends) : 0;

    if (!count)
        return;
    if (count > size || begins != (reader->text.length == 0) || reader->text.length > MESSAGE_MAX)
        abort();
    reader->text.length += count;
    if (!ends)
        return;
    check_message(&reader->text);
    reader->text.length = 0;
}

static void leave(struct reader *reader)
{
    client_free(reader->client);
    reader->client = NULL;
    reader->text.length = 0;
}

static void read_all(struct reader *reader)
{
    uint16_t code;
    const char *reason;

    while (reader->client && client_wants_send(reader->client))
        read_piece(reader, PIECE);
    if (reader->client && client_closing(reader->client, &code, &reason)) {
        if (strlen(reason) > 120)
            abort();
        leave(reader);
    }
}

static struct reader *reader_of(struct scene *scene, char digit)
{
    scene->last = (unsigned char)digit % CLIENTS;

    struct reader *reader = &scene->readers[scene->last];
    if (!reader->client && client_new(&reader->client, scene->service) < 0)
        abort();
    return reader;
}

static void happen(struct scene *scene, char what)
{
    struct reader *first = &scene->readers[0];

    switch (what) {
    case 'p':
        scene->profile.pending = !scene->profile.pending;
        break;
    case 'e':
        scene->profile.processes[0].live = !scene->profile.processes[0].live;
        break;
    case 'c':
        leave(&scene->readers[scene->last]);
        break;
    case 'r':
        if (first->client && client_wants_send(first->client))
            read_piece(first, 16);
        break;
    case 'm':
        scene->profile.repeat = scene->profile.repeat ? 0 : 200;
        break;
    default:
        service_poll(scene->service);
    }
}

static void do_line(struct scene *scene, const char *line, size_t length)
{
    if (length < 2)
        return;
    if (line[0] == '!')
        return happen(scene, line[1]);

    /* A copy of its own: a byte too far is found. */
    char *text = malloc(length);
    memcpy(text, line + 1, length - 1);
    text[length - 1] = '\0';

    struct reader *reader = reader_of(scene, line[0]);
    client_receive(reader->client, text, length - 1);
    free(text);
    for (unsigned i = 1; i < CLIENTS; i++) /* client 0 reads late */
        read_all(&scene->readers[i]);
}

static void begin(struct scene *scene)
{
    const struct service_options options = {
        .profile = &scene->profile,
        .version = "1.2.3",
        .epoch_ms = fake_epoch_ms,
        .monotonic_us = fake_monotonic_us,
        .queue_bytes_max = 1 << 20,
        .allow_dds = true,
    };

    fake_profile_init(&scene->profile);
    if (service_new(&scene->service, &options) < 0)
        abort();
}

static void finish(struct scene *scene)
{
    scene->profile.pending = false;
    service_poll(scene->service);
    for (unsigned i = 0; i < CLIENTS; i++) {
        read_all(&scene->readers[i]);
        leave(&scene->readers[i]);
        json_text_free(&scene->readers[i].text);
    }
    service_free(scene->service);
    if (scene->profile.snapshots)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static struct scene scene;
    const char *at = (const char *)bytes, *end = at + count;

    scene = (struct scene){ 0 };
    json_object_seed(1);
    begin(&scene);
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline ? newline : end;
        do_line(&scene, at, (size_t)(stop - at));
        at = stop + 1;
    }
    finish(&scene);
    return 0;
}
