#include "streams.h"

#include "event_json.h"
#include "history.h"
#include "../client/client.h"
#include "../client/recorded_streams.h"
#include "../client/saved.h"
#include "../text/any_text.h"
#include "../text/base64.h"
#include "../../sampler/profile/control.h"
#include "../../sampler/profile/follow.h"
#include "../../sampler/profile/stalls.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(STREAM_ID_COUNT <= 32, "struct client keeps them in 32 bits");

/* Between two _SamplesAvailable: a little less than the profile needs to tell of them. */
enum { SAMPLES_EVENT_US = 200000 };

static bool listens(const struct client *client, enum stream_id stream)
{
    return client->streams & 1u << stream;
}

/* The stream's name before it was public; the stream itself when it had none. */
static enum stream_id older(enum stream_id stream)
{
    if (stream == STREAM_ID_SERVICE)
        return STREAM_ID_PRIVATE_SERVICE;
    return stream == STREAM_ID_LOGGING ? STREAM_ID_PRIVATE_LOGGING : stream;
}

/* Their events are other clients' doing, and may close nobody. */
static bool is_of_clients(enum stream_id stream)
{
    return stream == STREAM_ID_SERVICE || stream == STREAM_ID_PRIVATE_SERVICE ||
           stream == STREAM_ID_EXTENSION || stream == STREAM_ID_TOOL_EVENT;
}

/* All that listen, but for one, which may be NULL. */
static bool all_have_room(const struct service *service, const struct client *except,
                          enum stream_id stream, const json_t *event)
{
    enum { ENVELOPE_BYTES = 128 };
    size_t length = json_dumpb(event, NULL, 0, JSON_COMPACT) + ENVELOPE_BYTES;
    enum stream_id twin = older(stream);

    for (const struct client *client = service->clients; client; client = client->next)
        if (client != except && (listens(client, stream) || listens(client, twin)) &&
            !client_has_room(client, twin == stream ? length : 2 * length))
            return false;
    return true;
}

bool streams_heard(const struct service *service, enum stream_id stream)
{
    for (const struct client *client = service->clients; client; client = client->next)
        if (listens(client, stream))
            return true;
    return false;
}

static char *event_text(enum stream_id stream, json_t *event)
{
    return rpc_notification_text(stream_id_words[stream], json_incref(event));
}

/* What a client hears because it asked. */
static void push_event(struct client *client, enum stream_id stream, json_t *event)
{
    client_push_text(client, event_text(stream, event));
}

/* What it hears because something happened. */
static void notify_one(struct client *client, enum stream_id stream, json_t *event)
{
    if (is_of_clients(stream))
        client_push_others_text(client, event_text(stream, event));
    else
        push_event(client, stream, event);
}

/* Takes over event. except: who gets none; may be NULL. */
static void notify_others(struct service *service, const struct client *except,
                          enum stream_id stream, json_t *event)
{
    enum stream_id twin = older(stream);

    histories_add(service->histories, stream, event);
    for (struct client *client = service->clients; client; client = client->next) {
        if (client != except && listens(client, stream))
            notify_one(client, stream, event);
        if (client != except && twin != stream && listens(client, twin))
            notify_one(client, twin, event);
    }
    json_decref(event);
}

/* Takes over event. */
static void notify(struct service *service, enum stream_id stream, json_t *event)
{
    notify_others(service, NULL, stream, event);
}

static json_t *vm_ref(const struct service *service)
{
    return json_pack("{s:s, s:o}", "type", TYPE_VM_REF, "name", any_text(service->vm_name));
}

void streams_flag_changed(struct service *service, const char *flag, const char *value)
{
    if (!streams_heard(service, STREAM_ID_VM))
        return;
    notify(service, STREAM_ID_VM,
           json_pack("{s:s, s:s, s:o, s:I, s:s, s:s}", "type", TYPE_EVENT, "kind",
                     KIND_VM_FLAG_UPDATE, "vm", vm_ref(service), "timestamp",
                     (json_int_t)service_now_ms(service), "flag", flag, "newValue", value));
}

void streams_vm_renamed(struct service *service)
{
    if (!streams_heard(service, STREAM_ID_VM))
        return;
    notify(service, STREAM_ID_VM,
           json_pack("{s:s, s:s, s:o, s:I}", "type", TYPE_EVENT, "kind", KIND_VM_UPDATE, "vm",
                     vm_ref(service), "timestamp", (json_int_t)service_now_ms(service)));
}

void streams_timeline_changed(struct service *service)
{
    if (!streams_heard(service, STREAM_ID_TIMELINE))
        return;
    notify(service, STREAM_ID_TIMELINE,
           json_pack("{s:s, s:s, s:o, s:I, s:o}", "type", TYPE_EVENT, "kind",
                     KIND_TIMELINE_STREAM_SUBSCRIPTIONS_UPDATE, "vm", vm_ref(service), "timestamp",
                     (json_int_t)service_now_ms(service), "updatedStreams",
                     recorded_streams_now(service)));
}

static uint64_t samples_ever(const struct service *service)
{
    const struct process_list *processes = &service->isolates.now;
    uint64_t samples = 0;

    for (size_t i = 0; i < processes->count; i++)
        samples += processes->items[i].samples + processes->items[i].evicted;
    return samples;
}

static uint64_t events_ever(const struct service *service)
{
    struct timeline_history history = profile_timeline_history(service->options.profile);

    return history.events + history.evicted;
}

/* The profile calls for what is new while somebody listens to any of it. */
static void wake(struct service *service)
{
    bool wakes = streams_heard(service, STREAM_ID_PROFILER) ||
                 streams_heard(service, STREAM_ID_TIMELINE) ||
                 streams_heard(service, STREAM_ID_EXTENSION);

    if (wakes != service->wakes)
        profile_follow(service->options.profile, wakes);
    service->wakes = wakes;
}

/* Who begins to listen hears of what comes from now on; a clear begins anew too. */
void streams_follow(struct service *service)
{
    uint64_t samples = samples_ever(service);
    bool follows = streams_heard(service, STREAM_ID_PROFILER);

    wake(service);
    if (follows && service->follows && samples >= service->samples_told)
        return;
    if (!service->follows) {
        service->events_told = events_ever(service);
        service->stalls_told = profile_stalls_change(service->options.profile);
    }
    service->follows = follows;
    service->samples_told = samples;
}

static void tell_of_events(struct service *service, uint64_t count)
{
    notify(service, STREAM_ID_PROFILER,
           json_pack("{s:s, s:s, s:o, s:I, s:I}", "type", TYPE_EVENT, "kind",
                     KIND_PRIVATE_TIMELINE_AVAILABLE, "vm", vm_ref(service), "timestamp",
                     (json_int_t)service_now_ms(service), "_events", (json_int_t)count));
}

void streams_timeline_came(struct service *service)
{
    int64_t now_us = service->options.monotonic_us();
    int64_t left_us = service->events_told_us + SAMPLES_EVENT_US - now_us;
    uint64_t events = events_ever(service);

    if (!service->follows || events <= service->events_told)
        return;
    if (left_us > 0)
        return service_poll_in(service, left_us);
    tell_of_events(service, events - service->events_told);
    service->events_told = events;
    service->events_told_us = now_us;
}

void streams_timeline_cleared(struct service *service)
{
    service->events_told = events_ever(service);
    if (streams_heard(service, STREAM_ID_PROFILER))
        tell_of_events(service, 0);
}

static void tell_of_stalls(struct service *service, uint64_t count)
{
    notify(service, STREAM_ID_PROFILER,
           json_pack("{s:s, s:s, s:o, s:I, s:I}", "type", TYPE_EVENT, "kind",
                     KIND_PRIVATE_STALLS_AVAILABLE, "vm", vm_ref(service), "timestamp",
                     (json_int_t)service_now_ms(service), "_stalls", (json_int_t)count));
}

void streams_stalls_came(struct service *service)
{
    int64_t now_us = service->options.monotonic_us();
    int64_t left_us = service->stalls_told_us + SAMPLES_EVENT_US - now_us;
    uint64_t change = profile_stalls_change(service->options.profile);

    if (!service->follows || change <= service->stalls_told)
        return;
    if (left_us > 0)
        return service_poll_in(service, left_us);
    tell_of_stalls(service, change - service->stalls_told);
    service->stalls_told = change;
    service->stalls_told_us = now_us;
}

void streams_stalls_cleared(struct service *service)
{
    service->stalls_told = profile_stalls_change(service->options.profile);
    if (streams_heard(service, STREAM_ID_PROFILER))
        tell_of_stalls(service, 0);
}

void streams_samples_came(struct service *service)
{
    int64_t now_us = service->options.monotonic_us();
    int64_t left_us = service->samples_told_us + SAMPLES_EVENT_US - now_us;
    uint64_t samples;

    samples = samples_ever(service);
    if (!service->follows || samples == service->samples_told)
        return;
    if (left_us > 0)
        return service_poll_in(service, left_us);
    notify(service, STREAM_ID_PROFILER,
           json_pack("{s:s, s:s, s:o, s:I, s:I}", "type", TYPE_EVENT, "kind",
                     KIND_PRIVATE_SAMPLES_AVAILABLE, "vm", vm_ref(service), "timestamp",
                     (json_int_t)service_now_ms(service), "_samples",
                     (json_int_t)(samples - service->samples_told)));
    service->samples_told = samples;
    service->samples_told_us = now_us;
}

/* What came before a clear can be told no more. What comes behind it must not be taken for that. */
void streams_samples_cleared(struct service *service, const struct isolate *isolate)
{
    if (streams_heard(service, STREAM_ID_PROFILER))
        notify(service, STREAM_ID_PROFILER,
               isolate_event(KIND_PRIVATE_SAMPLES_CLEARED, isolate, service_now_ms(service)));
    /* Out of memory: streams_follow begins anew at the next poll. */
    if (service_refresh(service) == 0)
        service->samples_told = samples_ever(service);
}

void streams_symbols_changed(struct service *service, const struct profile_symbols *symbols)
{
    if (!streams_heard(service, STREAM_ID_PROFILER))
        return;
    notify(service, STREAM_ID_PROFILER,
           json_pack("{s:s, s:s, s:o, s:I, s:o}", "type", TYPE_EVENT, "kind",
                     KIND_PRIVATE_SYMBOLS_AVAILABLE, "vm", vm_ref(service), "timestamp",
                     (json_int_t)service_now_ms(service), "_symbols", symbols_json(symbols)));
}

static bool tells_of_an_end(const char *kind, const struct isolate *isolate)
{
    return !isolate->tid &&
           (!strcmp(kind, KIND_ISOLATE_EXIT) || !strcmp(kind, KIND_ISOLATE_UPDATE));
}

void streams_isolate_changed(void *context, const char *kind, const struct isolate *isolate)
{
    struct service *service = context;
    json_t *event;

    if (!streams_heard(service, STREAM_ID_ISOLATE))
        return;
    event = isolate_event(kind, isolate, service_now_ms(service));
    if (tells_of_an_end(kind, isolate))
        event = isolate_with_exit(event, "_exit", isolate->process);
    notify(service, STREAM_ID_ISOLATE, event);
}

static json_t *service_event(const struct client *owner, const char *service, const char *alias)
{
    char namespace[16];

    snprintf(namespace, sizeof(namespace), "s%u.", owner->number);
    return json_pack("{s:s, s:s, s:I, s:s, s:s+, s:s*}", "type", TYPE_EVENT, "kind",
                     alias ? KIND_SERVICE_REGISTERED : KIND_SERVICE_UNREGISTERED, "timestamp",
                     (json_int_t)service_now_ms(owner->service), "service", service, "method",
                     namespace, service, "alias", alias);
}

bool streams_service_fits(const struct client *owner, const char *service, const char *alias)
{
    json_t *event = service_event(owner, service, alias);
    bool fits = all_have_room(owner->service, owner, STREAM_ID_SERVICE, event);

    json_decref(event);
    return fits;
}

void streams_service_changed(struct client *owner, const char *service, const char *alias)
{
    notify_others(owner->service, owner, STREAM_ID_SERVICE, service_event(owner, service, alias));
}

void streams_service_told(struct client *listener, enum stream_id stream,
                          const struct client *owner, const char *service, const char *alias)
{
    json_t *event = service_event(owner, service, alias);

    push_event(listener, stream, event);
    json_decref(event);
}

bool streams_posted(struct service *service, enum stream_id stream, const char *kind, json_t *data)
{
    json_t *event = json_pack("{s:s, s:s, s:I, s:s, s:O}", "type", TYPE_EVENT, "kind",
                              KIND_EXTENSION, "timestamp", (json_int_t)service_now_ms(service),
                              "extensionKind", kind, "extensionData", data);

    if (!all_have_room(service, NULL, stream, event)) {
        json_decref(event);
        return false;
    }
    notify(service, stream, event);
    return true;
}

void streams_logged(struct service *service, json_t *event, json_t *record)
{
    if (json_object_set_new(event, "logRecord", record) < 0) {
        json_decref(event);
        event = NULL;
    }
    notify(service, STREAM_ID_LOGGING, event);
}

void streams_wrote(struct service *service, enum stream_id stream, const void *bytes, size_t length)
{
    const struct process_info *process = isolates_main(&service->isolates);
    const struct isolate *isolate =
        process ? isolates_find(&service->isolates, (int64_t)process->id) : NULL;
    struct json_text text = { 0 };
    json_t *event;

    base64_put(&text, bytes, length, true);
    json_text_raw(&text, "", 1);
    event = json_pack("{s:s, s:s, s:I, s:s, s:o*, s:o*}", "type", TYPE_EVENT, "kind",
                      KIND_WRITE_EVENT, "timestamp", (json_int_t)service_now_ms(service), "bytes",
                      text.failed ? NULL : text.data, "isolateGroup",
                      isolate ? isolate_group_ref(process) : NULL, "isolate",
                      isolate ? isolate_ref(isolate) : NULL);
    json_text_free(&text);
    notify(service, stream, event);
}

void streams_replay(struct client *client, enum stream_id stream)
{
    const struct history *history = histories_find(client->service->histories, stream);
    const struct past_event *past = NULL;

    if (!history || client->replayed & 1u << stream)
        return;
    client->replayed |= 1u << stream;
    while ((past = history_next(history, past)))
        push_event(client, stream, past_event_json(past));
}
