#include "service.h"

#include "client.h"
#include "dispatch.h"
#include "host.h"
#include "json_writer.h"
#include "yield.h"
#include "../sampler/include/isoscope/isoscope.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    QUEUE_BYTES_DEFAULT = 16 * 1024 * 1024,
    PROCESSES_FEW = 64,
    REFRESH_US = 100, /* between two looks, for each process */
    REFRESH_US_MAX = 100 * 1000,
    PROCESSES_MANY = REFRESH_US_MAX / REFRESH_US,
};

int service_refresh(struct service *service)
{
    return isolates_refresh(&service->isolates, service->options.profile, streams_isolate_changed,
                            service);
}

int service_new(struct service **out, const struct service_options *options)
{
    struct service *service = calloc(1, sizeof(*service));

    assert(options->profile && options->version && options->epoch_ms && options->monotonic_us);
    if (!service)
        return -ISOSCOPE_NO_MEMORY;
    service->options = *options;
    if (!service->options.protocol_major) {
        service->options.protocol_major = PROTOCOL_MAJOR;
        service->options.protocol_minor = PROTOCOL_MINOR;
    }
    if (!service->options.queue_bytes_max)
        service->options.queue_bytes_max = QUEUE_BYTES_DEFAULT;
    service->start_ms = options->epoch_ms();
    service->monotonic_to_epoch_ms = service->start_ms - options->monotonic_us() / 1000;
    snprintf(service->vm_name, sizeof(service->vm_name), "%s", SERVICE_VM_NAME);
    host_cpu(service->host_cpu, sizeof(service->host_cpu));
    *out = service;
    return 0;
}

void service_free(struct service *service)
{
    if (!service)
        return;
    while (service->clients)
        client_free(service->clients);
    isolates_free(&service->isolates);
    loss_log_free(&service->loss_log);
    histories_clear(&service->histories);
    free(service);
}

static void tell_of_symbols(struct service *service)
{
    struct profile_symbols symbols = profile_symbols(service->options.profile);

    if (symbols.finished == service->symbols_finished)
        return;
    service->symbols_finished = symbols.finished;
    streams_symbols_changed(service, &symbols);
}

void service_poll_in(struct service *service, int64_t us)
{
    if (!service->poll_in_us || us < service->poll_in_us)
        service->poll_in_us = us;
}

/* Where hundreds of processes come and go, looking at all of them at each change would be most of
 * the service's work. Who asks for them gets them as they are (dispatch.c). */
static bool may_refresh(struct service *service)
{
    size_t processes = service->isolates.now.count;
    int64_t pause_us =
        processes < PROCESSES_MANY ? REFRESH_US * (int64_t)processes : REFRESH_US_MAX;
    int64_t now_us = service->options.monotonic_us();
    int64_t wait_us = service->refreshed_us + pause_us - now_us;

    if (processes > PROCESSES_FEW && wait_us > 0) {
        service_poll_in(service, wait_us);
        return false;
    }
    service->refreshed_us = now_us;
    return true;
}

uint32_t service_poll(struct service *service)
{
    service->work = WORK_TURN;
    service->polls++;
    service->poll_in_us = 0;
    if (may_refresh(service)) {
        /* Out of memory: what came or went is told at a later call. */
        service_refresh(service);
        loss_log_look(service);
    }
    tell_of_symbols(service);
    streams_samples_came(service);
    for (struct client *client = service->clients; client; client = client->next)
        dispatch_waiting(client);
    return (uint32_t)((service->poll_in_us + 999) / 1000);
}

void service_program_wrote(struct service *service, enum service_output output, const void *bytes,
                           size_t length)
{
    streams_wrote(service, output == SERVICE_STDERR ? STREAM_ID_STDERR : STREAM_ID_STDOUT, bytes,
                  length);
}

int client_new(struct client **out, struct service *service)
{
    struct client *client = calloc(1, sizeof(*client));

    if (!client)
        return -ISOSCOPE_NO_MEMORY;
    client->service = service;
    client->services.number = service->client_number++;
    client->next = service->clients;
    client->link = &service->clients;
    if (client->next)
        client->next->link = &client->next;
    service->clients = client;
    *out = client;
    return 0;
}

void client_free(struct client *client)
{
    if (!client)
        return;
    *client->link = client->next;
    if (client->next)
        client->next->link = client->link;
    services_end(client);
    yield_ends(client);
    tagged_samples_free(&client->tagged);
    dispatch_clear(client);
    free(client->name);
    outbox_clear(&client->outbox);
    free(client->failure.details);
    free(client);
}

/* Copies whole characters only: a close frame holds UTF-8. */
static void copy_reason(char out[CLOSE_REASON_MAX + 1], const char *reason)
{
    size_t length = 0, left = strlen(reason);

    while (left) {
        size_t count = utf8_character((const unsigned char *)reason + length, left);

        if (!count || length + count > CLOSE_REASON_MAX)
            break;
        length += count;
        left -= count;
    }
    memcpy(out, reason, length);
    out[length] = '\0';
}

void client_dismiss(struct client *client, enum close_code code, const char *reason)
{
    if (client->closing_code)
        return;
    client->dismissed = true;
    client->closing_code = code;
    copy_reason(client->closing_reason, reason);
    client->streams = 0;
}

/* It gets nothing any more, so what it was owed need not be kept. */
void client_close(struct client *client, enum close_code code, const char *reason)
{
    if (client->closing_code)
        return;
    client->closing_code = code;
    copy_reason(client->closing_reason, reason);
    client->streams = 0;
    outbox_clear(&client->outbox);
}

void client_push_text(struct client *client, char *text)
{
    char reason[CLOSE_REASON_MAX];

    if (client->closing_code)
        return free(text);
    if (outbox_push_text(&client->outbox, text) < 0)
        return client_close(client, CLOSE_NO_MEMORY, "out of memory");
    if (client->outbox.bytes <= client->service->options.queue_bytes_max)
        return;
    snprintf(reason, sizeof(reason), "the client reads too slowly: %zu bytes wait for it",
             client->outbox.bytes);
    client_close(client, CLOSE_POLICY, reason);
}

bool client_has_room(const struct client *client, size_t length)
{
    size_t max = client->service->options.queue_bytes_max, used = client->outbox.others_bytes;

    return used <= max && length <= max - used;
}

void client_push_others_text(struct client *client, char *text)
{
    if (client->closing_code)
        return free(text);
    if (outbox_push_others_text(&client->outbox, text) < 0)
        client_close(client, CLOSE_NO_MEMORY, "out of memory");
}

static void close_no_json(struct client *client, const char *why)
{
    char reason[JSON_ERROR_TEXT_LENGTH + 32];

    snprintf(reason, sizeof(reason), "Message parse error: %s", why);
    client_close(client, CLOSE_NO_JSON, reason);
}

/* Takes over both. An answer that is none still ends the call that it was for. */
static void take_broken(struct client *client, struct request *request, struct rpc_failure *failure)
{
    if (!request->method && services_answer(client, request->message)) {
        free(failure->details);
        return request_free(request);
    }
    dispatch_broken(client, request, failure);
}

static bool too_fast(struct client *client)
{
    const struct service_options *options = &client->service->options;

    if (!options->rate_max)
        return false;

    int64_t now = options->monotonic_us();
    if (now - client->second_us >= 1000000) {
        client->second_us = now;
        client->second_requests = 0;
    }
    return client->second_requests++ >= options->rate_max;
}

/* Takes over request. */
static void refuse_too_fast(struct client *client, struct request *request)
{
    struct rpc_failure failure = { .error = RPC_SERVER_ERROR, .routing = true };

    if (asprintf(&failure.details, "more than %u requests of this client in a second",
                 client->service->options.rate_max) < 0)
        failure.details = NULL;
    dispatch_broken(client, request, &failure);
}

void client_receive(struct client *client, const char *text, size_t length)
{
    char why[JSON_ERROR_TEXT_LENGTH];
    struct rpc_failure failure = { 0 };
    struct request *request = NULL;

    if (client->closing_code)
        return;
    client->service->work = WORK_TURN;
    switch (rpc_parse(&request, text, length, &failure, why)) {
    case RPC_PARSED_REQUEST:
        return too_fast(client) ? refuse_too_fast(client, request) : dispatch(client, request);
    case RPC_PARSED_REPLY:
        services_answer(client, request->message);
        return request_free(request);
    case RPC_PARSED_BROKEN:
        return take_broken(client, request, &failure);
    case RPC_PARSED_NO_JSON:
        return close_no_json(client, why);
    case RPC_PARSED_NO_MAP:
        return client_close(client, CLOSE_NO_MAP, "Message must be a JSON map.");
    case RPC_PARSED_NO_MEMORY:
        return client_close(client, CLOSE_NO_MEMORY, "out of memory");
    }
}

void client_receive_binary(struct client *client)
{
    client_close(client, CLOSE_BINARY, "Message must be a string.");
}

bool client_waits(const struct client *client)
{
    return client->streams || client->services.offers || client->waiting;
}

bool client_wants_send(const struct client *client)
{
    if (client->outbox.first)
        return !client->closing_code || client->dismissed;
    return dispatch_works(client) || tagged_samples_works(client);
}

size_t client_send(struct client *client, char *buffer, size_t size, bool *begins, bool *ends)
{
    unsigned samples = client->outbox.samples;
    size_t count = 0;

    *begins = *ends = false;
    if (!client_wants_send(client) || size == 0)
        return 0;
    client->service->work = WORK_TURN;
    if (!client->outbox.first)
        dispatch_working(client);
    if (!client->outbox.first)
        tagged_samples_resume(client);
    if (!client->outbox.first)
        return 0;
    switch (outbox_read(&client->outbox, buffer, size, &client->service->work, &count, begins)) {
    case OUTBOX_MORE:
    case OUTBOX_WORKS:
        return count;
    case OUTBOX_BROKE:
        client->closing_code = 0; /* also where it was to go anyhow */
        client->dismissed = false;
        client_close(client, CLOSE_NO_MEMORY, "out of memory");
        return 0;
    case OUTBOX_ENDED:
        break;
    }
    *ends = true;
    /* There is room for samples again, and nothing else need wake the waiting. */
    if (client->outbox.samples < samples)
        dispatch_waiting(client);
    tagged_samples_resume(client);
    return count;
}

bool client_closing(const struct client *client, uint16_t *code, const char **reason)
{
    if (!client->closing_code)
        return false;
    *code = client->closing_code;
    *reason = client->closing_reason;
    return true;
}
