#include "streams.h"

#include "client.h"
#include "../sampler/profile/live.h"

_Static_assert(STREAM_ID_COUNT <= 32, "struct client keeps them in 32 bits");

/* Between two _SamplesAvailable: a little less than the profile needs to tell of them. */
enum { SAMPLES_EVENT_US = 200000 };

static bool listens(const struct client *client, enum stream_id stream)
{
    return client->streams & 1u << stream;
}

static bool anybody_listens(const struct service *service, enum stream_id stream)
{
    for (const struct client *client = service->clients; client; client = client->next)
        if (listens(client, stream))
            return true;
    return false;
}

/* Takes over event. */
static void notify(struct service *service, enum stream_id stream, json_t *event)
{
    for (struct client *client = service->clients; client; client = client->next)
        if (listens(client, stream))
            client_push_text(client,
                             rpc_notification_text(stream_id_words[stream], json_incref(event)));
    json_decref(event);
}

static json_t *vm_ref(const struct service *service)
{
    return json_pack("{s:s, s:o}", "type", TYPE_VM_REF, "name", isolate_text(service->vm_name));
}

void streams_flag_changed(struct service *service, const char *flag, const char *value)
{
    if (!anybody_listens(service, STREAM_ID_VM))
        return;
    notify(service, STREAM_ID_VM,
           json_pack("{s:s, s:s, s:o, s:I, s:s, s:s}", "type", TYPE_EVENT, "kind",
                     KIND_VM_FLAG_UPDATE, "vm", vm_ref(service), "timestamp",
                     (json_int_t)service->options.epoch_ms(), "flag", flag, "newValue", value));
}

void streams_vm_renamed(struct service *service)
{
    if (!anybody_listens(service, STREAM_ID_VM))
        return;
    notify(service, STREAM_ID_VM,
           json_pack("{s:s, s:s, s:o, s:I}", "type", TYPE_EVENT, "kind", KIND_VM_UPDATE, "vm",
                     vm_ref(service), "timestamp", (json_int_t)service->options.epoch_ms()));
}

json_t *timeline_streams_json(uint32_t streams)
{
    json_t *list = json_array();

    for (int i = 0; i < TIMELINE_STREAM_COUNT; i++)
        if (streams & 1u << i)
            json_array_append_new(list, json_string(timeline_stream_words[i]));
    return list;
}

void streams_timeline_changed(struct service *service)
{
    if (!anybody_listens(service, STREAM_ID_TIMELINE))
        return;
    notify(service, STREAM_ID_TIMELINE,
           json_pack("{s:s, s:s, s:o, s:I, s:o}", "type", TYPE_EVENT, "kind",
                     KIND_TIMELINE_STREAM_SUBSCRIPTIONS_UPDATE, "vm", vm_ref(service), "timestamp",
                     (json_int_t)service->options.epoch_ms(), "updatedStreams",
                     timeline_streams_json(service->timeline_streams)));
}

static uint64_t samples_ever(const struct service *service)
{
    const struct process_list *processes = &service->isolates.now;
    uint64_t samples = 0;

    for (size_t i = 0; i < processes->count; i++)
        samples += processes->items[i].samples + processes->items[i].evicted;
    return samples;
}

/* Who begins to listen hears of what comes from now on; a clear begins anew too. */
void streams_follow(struct service *service)
{
    uint64_t samples = samples_ever(service);
    bool follows = anybody_listens(service, STREAM_ID_PROFILER);

    if (follows && service->follows && samples >= service->samples_told)
        return;
    if (follows != service->follows)
        profile_follow(service->options.profile, follows);
    service->follows = follows;
    service->samples_told = samples;
}

void streams_samples_came(struct service *service)
{
    int64_t now_us = service->options.monotonic_us();
    uint64_t samples;

    streams_follow(service);
    samples = samples_ever(service);
    if (!service->follows || samples == service->samples_told ||
        now_us - service->samples_told_us < SAMPLES_EVENT_US)
        return;
    notify(service, STREAM_ID_PROFILER,
           json_pack("{s:s, s:s, s:o, s:I, s:I}", "type", TYPE_EVENT, "kind",
                     KIND_PRIVATE_SAMPLES_AVAILABLE, "vm", vm_ref(service), "timestamp",
                     (json_int_t)service->options.epoch_ms(), "_samples",
                     (json_int_t)(samples - service->samples_told)));
    service->samples_told = samples;
    service->samples_told_us = now_us;
}

json_t *symbols_json(const struct profile_symbols *symbols)
{
    return json_pack("{s:i, s:i}", "done", (int)symbols->done, "asked", (int)symbols->asked);
}

void streams_symbols_changed(struct service *service, const struct profile_symbols *symbols)
{
    if (!anybody_listens(service, STREAM_ID_PROFILER))
        return;
    notify(service, STREAM_ID_PROFILER,
           json_pack("{s:s, s:s, s:o, s:I, s:o}", "type", TYPE_EVENT, "kind",
                     KIND_PRIVATE_SYMBOLS_AVAILABLE, "vm", vm_ref(service), "timestamp",
                     (json_int_t)service->options.epoch_ms(), "_symbols", symbols_json(symbols)));
}

json_t *isolate_event(const char *kind, const struct isolate *isolate, int64_t timestamp_ms)
{
    return json_pack("{s:s, s:s, s:o, s:o, s:I}", "type", TYPE_EVENT, "kind", kind, "isolateGroup",
                     isolate_group_ref(isolate->process), "isolate", isolate_ref(isolate),
                     "timestamp", (json_int_t)timestamp_ms);
}

void streams_isolate_changed(void *context, const char *kind, const struct isolate *isolate)
{
    struct service *service = context;

    if (anybody_listens(service, STREAM_ID_ISOLATE))
        notify(service, STREAM_ID_ISOLATE,
               isolate_event(kind, isolate, service->options.epoch_ms()));
}
