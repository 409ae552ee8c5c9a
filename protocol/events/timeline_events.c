#include "timeline_events.h"

#include "event_json.h"
#include "streams.h"
#include "../client/client.h"
#include "../client/saved.h"
#include "../timeline/trace_event.h"
#include "../../sampler/include/isoscope/isoscope.h"

#include <stdlib.h>
#include <string.h>

/* Between two turns: a little less than the profile needs to tell of new events. */
enum { TURN_US = 200000 };

/* Work: of an event, and of each of those in it. */
enum { WORK_EVENT = 1 << 14, WORK_EACH = 64 };

/* A timeline on its way into events. */
struct batch {
    struct client *client;
    struct timeline *timeline;
};

/* Names of the threads come first: who began to listen late knows none. */
static void put_name(struct json_text *text, const struct timeline_event *event, int32_t pid,
                     bool *any)
{
    if (!event->tid)
        return;
    json_text_comma(text, any);
    trace_event_put_name(text, pid, event->tid, event->thread_name ? event->thread_name : "");
}

static void put_events(struct json_text *text, const struct batch *batch,
                       const struct process_info *process)
{
    struct timeline_event event;
    uint64_t cursor = 0;
    int32_t tid = -1;
    bool any = false;

    while (timeline_next(batch->timeline, &cursor, &event)) {
        if (event.process_id != process->id)
            continue;
        if (event.tid != tid) /* a thread's events come in runs */
            put_name(text, &event, process->pid, &any);
        tid = event.tid;
        json_text_comma(text, &any);
        trace_event_put(text, &event, TIMELINE_SIDE_WHOLE, process->pid);
    }
}

static char *event_text(const struct batch *batch, const struct process_info *process)
{
    const struct service *service = batch->client->service;
    const struct isolate *isolate = isolates_find(&service->isolates, (int64_t)process->id);
    struct json_text text = { 0 };
    json_t *event = isolate_event(KIND_TIMELINE_EVENTS, isolate, service_now_ms(service));
    char *head = rpc_notification_text(stream_id_words[STREAM_ID_TIMELINE], event);

    if (head) /* without its three last braces: another member follows */
        json_text_raw(&text, head, strlen(head) - strlen("}}}"));
    json_text_literal(&text, ",\"timelineEvents\":[");
    put_events(&text, batch, process);
    json_text_raw(&text, "]}}}", sizeof("]}}}"));
    if (!head || text.failed)
        json_text_free(&text);
    free(head);
    return text.data;
}

static uint32_t count_of(const struct batch *batch, const struct process_info *process)
{
    struct timeline_event event;
    uint64_t cursor = 0;
    uint32_t count = 0;

    while (timeline_next(batch->timeline, &cursor, &event))
        count += !process || event.process_id == process->id;
    return count;
}

/* False: out of memory, and nothing was sent. */
static bool send_batch(const struct batch *batch)
{
    const struct isolates *isolates = &batch->client->service->isolates;
    const struct process_info *process = NULL;

    /* Some may be of a process that came just now. */
    if (service_refresh(batch->client->service) < 0)
        return false;
    while ((process = isolates_next(isolates, process)))
        if (count_of(batch, process))
            client_push_text(batch->client, event_text(batch, process));
    return true;
}

/* Returns whether there may be more. */
static bool send_some(struct client *client)
{
    struct timeline_reader *reader = &client->timeline;
    struct timeline_window window = { .since = &reader->cursor, .count_max = TIMELINE_EVENTS_MAX };
    struct batch batch = { .client = client };
    bool more = false;
    uint32_t count;

    if (timeline_take(&batch.timeline, client->service->options.profile, &window) < 0)
        return false;
    count = count_of(&batch, NULL);
    work_off(&client->service->work, WORK_EVENT + count * WORK_EACH);
    if (!count || send_batch(&batch)) {
        reader->cursor = timeline_cursor(batch.timeline);
        more = timeline_more(batch.timeline);
    }
    if (count)
        reader->told_us = client->service->options.monotonic_us();
    timeline_free(batch.timeline);
    return more;
}

static bool listens(const struct client *client)
{
    return client->streams & 1u << STREAM_ID_TIMELINE;
}

bool timeline_events_works(const struct client *client)
{
    return client->timeline.more && listens(client) && client->outbox.bytes < TIMELINE_BYTES_MAX;
}

void timeline_events_resume(struct client *client)
{
    while (client->service->work > 0 && timeline_events_works(client))
        client->timeline.more = send_some(client);
}

void timeline_events_begin(struct client *client)
{
    client->timeline = (struct timeline_reader){ .cursor = timeline_end(client->service) };
}

void timeline_events_poll(struct client *client)
{
    int64_t left_us = client->timeline.told_us + TURN_US - client->service->options.monotonic_us();

    if (!listens(client))
        return;
    if (left_us > 0)
        return service_poll_in(client->service, left_us);
    client->timeline.more = true;
    timeline_events_resume(client);
}
