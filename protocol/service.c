#include "service.h"

#include "client/client.h"
#include "client/saved.h"
#include "dispatch.h"
#include "events/frame_events.h"
#include "events/history.h"
#include "events/loss_log.h"
#include "events/offers.h"
#include "events/stall_events.h"
#include "events/streams.h"
#include "events/tagged_samples.h"
#include "events/timeline_events.h"
#include "metrics/metrics.h"
#include "pulls/pulls.h"
#include "text/json_writer.h"
#include "../sampler/include/isoscope/isoscope.h"
#include "../sampler/profile/facts.h"

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

int service_new(struct service **out, const struct service_options *options)
{
    struct service *service = calloc(1, sizeof(*service));

    assert(options->profile && options->version && options->epoch_ms && options->monotonic_us);
    if (!service)
        return -ISOSCOPE_NO_MEMORY;
    service->options = *options;
    service->isolate_changed = streams_isolate_changed;
    if (!service->options.protocol_major) {
        service->options.protocol_major = PROTOCOL_MAJOR;
        service->options.protocol_minor = PROTOCOL_MINOR;
    }
    if (!service->options.queue_bytes_max)
        service->options.queue_bytes_max = QUEUE_BYTES_DEFAULT;
    snprintf(service->vm_name, sizeof(service->vm_name), "%s", SERVICE_VM_NAME);
    profile_host_cpu(options->profile, service->host_cpu, sizeof(service->host_cpu));
    service->histories = histories_new();
    service->loss_log = loss_log_new();
    service->stall_events = stall_events_new();
    if (!service->histories || !service->loss_log || !service->stall_events ||
        service_begin(service) < 0) {
        service_free(service);
        return -ISOSCOPE_NO_MEMORY;
    }
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
    loss_log_free(service->loss_log);
    stall_events_free(service->stall_events);
    metrics_free(service->metrics);
    pprof_places_free(&service->places);
    histories_free(service->histories);
    json_decref(service->unsampled);
    json_decref(service->chosen_streams);
    free(service);
}

const char *service_dds_uri(const struct service *service)
{
    return service->dds_uri;
}

static void tell_of_symbols(struct service *service)
{
    struct profile_symbols symbols = profile_symbols(service->options.profile);

    if (symbols.finished == service->symbols_finished)
        return;
    service->symbols_finished = symbols.finished;
    streams_symbols_changed(service, &symbols);
}

static void tell_of_samples(struct service *service)
{
    streams_follow(service);
    for (struct client *client = service->clients; client; client = client->next) {
        tagged_samples_poll(client);
        timeline_events_poll(client);
    }
    frame_events_poll(service);
    stall_events_poll(service);
    streams_samples_came(service);
    streams_timeline_came(service);
    streams_stalls_came(service);
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
        if (!service->saved) /* its losses were told when they came */
            loss_log_look(service);
    }
    tell_of_symbols(service);
    tell_of_samples(service);
    pulls_poll(service);
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

char *service_metrics(struct service *service, size_t *length)
{
    const struct service_options *options = &service->options;
    struct metrics_of_service own = { .version = options->version,
                                      .now_us = options->monotonic_us() };
    struct json_text text = { 0 };

    if (!service->metrics)
        service->metrics = metrics_new();
    if (options->cpu_ns)
        own.cpu_ns = (uint64_t)options->cpu_ns();
    if (!service->metrics || metrics_put(service->metrics, &text, options->profile, &own) < 0)
        json_text_free(&text);
    *length = text.length;
    return text.data;
}

int client_new(struct client **out, struct service *service)
{
    struct client *client = calloc(1, sizeof(*client));

    if (!client)
        return -ISOSCOPE_NO_MEMORY;
    client->service = service;
    client->offers = offers_new();
    client->tagged = tagged_samples_new();
    client->next = service->clients;
    client->link = &service->clients;
    if (client->next)
        client->next->link = &client->next;
    service->clients = client;
    if (!client->offers || !client->tagged) {
        client_free(client);
        return -ISOSCOPE_NO_MEMORY;
    }
    client->number = service->client_number++;
    *out = client;
    return 0;
}

/* If it was the Dart Development Service in front, others may come in again. */
static void leave_front(struct client *client)
{
    struct service *service = client->service;

    if (service->dds != client)
        return;
    service->dds = NULL;
    free(service->dds_uri);
    service->dds_uri = NULL;
}

void client_free(struct client *client)
{
    if (!client)
        return;
    *client->link = client->next;
    if (client->next)
        client->next->link = client->link;
    offers_end(client);
    leave_front(client);
    tagged_samples_free(client->tagged);
    dispatch_clear(client);
    pulls_end(client);
    free(client->name);
    outbox_clear(&client->outbox);
    free(client->failure.details);
    free(client);
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
    if (!request->method && offers_answer(client, request->message)) {
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
        offers_answer(client, request->message);
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
    return client->streams || offers_any(client->offers) || client->waiting;
}

bool client_wants_send(const struct client *client)
{
    if (client->outbox.first)
        return !client->closing_code || client->dismissed;
    return dispatch_works(client) || pulls_work(client) || tagged_samples_works(client) ||
           timeline_events_works(client);
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
        pulls_working(client);
    if (!client->outbox.first)
        tagged_samples_resume(client);
    if (!client->outbox.first)
        timeline_events_resume(client);
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
    timeline_events_resume(client);
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
