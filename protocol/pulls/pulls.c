#include "pulls.h"

#include "pull.h"
#include "pull_texts.h"

#include <stdio.h>
#include <string.h>

#define TEXT    "text/plain; charset=utf-8"
#define PROFILE "application/octet-stream"
#define OTLP    "application/x-protobuf"

static void answer_text(struct client *client, struct pull_answer *answer, const char *status,
                        struct json_text *text)
{
    struct reply_stream *stream;

    if (!text->length) /* a reply has a byte at least */
        json_text_literal(text, "\n");
    stream = pull_text_stream(text);
    answer->status = status;
    answer->type = TEXT;
    if (!stream || outbox_push_samples(&client->outbox, stream) < 0)
        client_close(client, CLOSE_NO_MEMORY, "out of memory");
}

__attribute__((format(printf, 4, 5))) static void refuse(struct client *client,
                                                         struct pull_answer *answer,
                                                         const char *status, const char *format,
                                                         ...)
{
    struct json_text text = { 0 };
    char line[256];
    va_list words;

    va_start(words, format);
    vsnprintf(line, sizeof(line), format, words);
    va_end(words);
    json_text_raw(&text, line, strlen(line));
    json_text_literal(&text, "\n");
    answer_text(client, answer, status, &text);
}

/* The value of "name=value"; NULL: it is not there. */
static const char *argument(const struct pull_request *request, const char *name)
{
    size_t length = strlen(name);

    for (size_t i = 0; i < request->argument_count; i++)
        if (!strncmp(request->arguments[i], name, length) && request->arguments[i][length] == '=')
            return request->arguments[i] + length + 1;
    return NULL;
}

/* False: it is none. */
static bool read_seconds(const char *text, uint32_t *seconds)
{
    *seconds = 0;
    if (!*text)
        return false;
    for (; *text >= '0' && *text <= '9' && *seconds <= PULL_SECONDS_MAX; text++)
        *seconds = *seconds * 10 + (uint32_t)(*text - '0');
    return !*text && *seconds <= PULL_SECONDS_MAX;
}

static void begin_profile(struct client *client, const struct pull_path *path,
                          const struct pull_request *request, struct pull_answer *answer)
{
    const char *wished = argument(request, "seconds"), *debug = argument(request, "debug");
    const char *labels = argument(request, "labels");
    uint32_t seconds = path->seconds;

    if (wished && !read_seconds(wished, &seconds))
        return refuse(client, answer, "400 Bad Request",
                      "seconds is to be a whole number from 0 (all that is kept) to %d; it is "
                      "\"%.40s\"",
                      PULL_SECONDS_MAX, wished);
    if (debug && strcmp(debug, "0") != 0)
        return refuse(client, answer, "400 Bad Request",
                      "debug is to be 0: there is no other format than profile.proto");
    if (labels && strcmp(labels, "few") != 0 && strcmp(labels, "all") != 0)
        return refuse(client, answer, "400 Bad Request", "labels is to be all or few");
    client->pull = pull_new(client->service, path,
                            &(struct pull_wish){ .seconds = seconds,
                                                 .from_us = request->from_us,
                                                 .until_us = request->until_us,
                                                 .few_labels = labels && labels[0] == 'f',
                                                 .otlp = request->otlp,
                                                 .names_us = request->names_us });
    if (!client->pull)
        return refuse(client, answer, "503 Service Unavailable", "out of memory");
    answer->status = "200 OK";
    answer->type = request->otlp ? OTLP : PROFILE;
    answer->packed = true;
}

static void answer_command(struct client *client, bool gperftools, struct pull_answer *answer)
{
    const struct process_info *program = isolates_main(&client->service->isolates);
    const char *alone[] = { program ? program->exe : "", NULL };
    const char *const *words = client->service->options.command;
    struct json_text text = { 0 };

    pull_command(&text, words ? words : alone, gperftools ? '\n' : '\0');
    answer_text(client, answer, "200 OK", &text);
}

void client_pull(struct client *client, const struct pull_request *request,
                 struct pull_answer *answer)
{
    struct json_text text = { 0 };
    bool gperftools;
    const struct pull_path *path = pull_path_find(request->path, &gperftools);

    *answer = (struct pull_answer){ 0 };
    client->by_get = true;
    client->service->work = WORK_TURN;
    if (!path)
        return refuse(client, answer, "404 Not Found",
                      "there is no %.100s; debug/pprof/ lists what there is", request->path);
    if (service_refresh(client->service) < 0)
        return refuse(client, answer, "503 Service Unavailable", "out of memory");
    switch (path->what) {
    case PULL_INDEX:
        pull_index(&text);
        return answer_text(client, answer, "200 OK", &text);
    case PULL_COMMAND:
        return answer_command(client, gperftools, answer);
    case PULL_SYMBOLS:
        pull_symbol_count(&text);
        return answer_text(client, answer, "200 OK", &text);
    case PULL_PROFILE:
        return begin_profile(client, path, request, answer);
    }
}

void client_pull_symbols(struct client *client, const char *addresses, size_t length,
                         struct pull_answer *answer)
{
    struct json_text text = { 0 };

    *answer = (struct pull_answer){ 0 };
    client->by_get = true;
    pull_symbols(&text, &client->service->places, addresses, length);
    answer_text(client, answer, "200 OK", &text);
}

uint32_t client_pulled_samples(const struct client *client)
{
    return client->pull ? pull_samples(client->pull) : 0;
}

void client_pull_hurry(struct client *client, int64_t names_us)
{
    if (client->pull)
        pull_hurry(client->service, client->pull, names_us);
}

bool client_pulls(const struct client *client)
{
    return client->pull && !client->outbox.first;
}

void pulls_poll(struct service *service)
{
    for (struct client *client = service->clients; client; client = client->next)
        if (client->pull)
            pull_poll(service, client->pull);
}

bool pulls_work(const struct client *client)
{
    return client->pull && !client->closing_code && pull_works(client->service, client->pull);
}

void pulls_working(struct client *client)
{
    if (pulls_work(client))
        pull_work(client, client->pull);
}

void pulls_end(struct client *client)
{
    pull_free(client->service, client->pull);
    client->pull = NULL;
}
