#include "tagged_samples.h"

#include "event_json.h"
#include "streams.h"
#include "../client/client.h"
#include "../client/saved.h"
#include "../objects/refs.h"
#include "../samples/sample_words.h"
#include "../text/tags.h"
#include "../../sampler/feed/cleanup.h"
#include "../../sampler/include/isoscope/isoscope.h"

#include <stdlib.h>

/* Between two turns: a little less than the profile needs to tell of new samples. */
enum { TURN_US = 200000 };

/* Work: of an event, and of each of its samples. */
enum { WORK_EVENT = 1 << 14, WORK_SAMPLE = 64 };

struct tagged_samples {
    const char **tags; /* up to a NULL, borrowed from list; NULL: none were asked for */
    json_t *list;
    struct snapshot_cursor cursor;
    int64_t told_us;
    bool more;             /* there may be: it goes on in another turn, when there is room */
    struct snapshot *half; /* that is taken now; NULL: none */
    uint64_t polls;        /* of the service, when it began */
    struct tags functions; /* their ids; the place is the index in events */
    struct json_text refs; /* the functions as events have them, with commas between */
};

/* One snapshot on its way into events. */
struct batch {
    struct client *client;
    struct snapshot *snapshot;
    const struct snapshot_frame *frames;
    uint32_t *indices; /* by function of the snapshot: its index in events */
};

struct tagged_samples *tagged_samples_new(void)
{
    return calloc(1, sizeof(struct tagged_samples));
}

static void forget_functions(struct tagged_samples *tagged)
{
    tags_free(&tagged->functions);
    json_text_free(&tagged->refs);
    tagged->refs = (struct json_text){ 0 };
}

static void forget_half(struct tagged_samples *tagged)
{
    snapshot_free(tagged->half);
    tagged->half = NULL;
}

static void forget_tags(struct tagged_samples *tagged)
{
    forget_half(tagged);
    free(tagged->tags);
    json_decref(tagged->list);
    tagged->tags = NULL;
    tagged->list = NULL;
}

void tagged_samples_free(struct tagged_samples *tagged)
{
    if (!tagged)
        return;
    forget_functions(tagged);
    forget_tags(tagged);
    free(tagged);
}

int tagged_samples_want(struct client *client, json_t *tags)
{
    struct tagged_samples *tagged = client->tagged;
    size_t count = json_array_size(tags);
    const char **names = count ? calloc(count + 1, sizeof(*names)) : NULL;

    if (count && !names)
        return -ISOSCOPE_NO_MEMORY;
    forget_tags(tagged);
    for (size_t i = 0; i < count; i++)
        names[i] = json_string_value(json_array_get(tags, i));
    tagged->tags = names;
    tagged->list = json_incref(tags);
    return 0;
}

static void put_ref(struct json_text *text, const struct snapshot_function *function,
                    const struct snapshot_library *library)
{
    if (text->length)
        json_text_literal(text, ",");
    if (ref_has_location(function, library)) {
        json_text_literal(text, "{\"type\":\"@Object\",\"fixedId\":true,\"id\":");
        json_text_string(text, function->id);
        return json_text_literal(text, "}");
    }
    json_text_literal(text, "{\"type\":\"NativeFunction\",\"name\":");
    ref_name(text, function->name);
    json_text_literal(text, ",\"_kind\":\"Native\"}");
}

/* False: out of memory. */
static bool number_functions(struct batch *batch)
{
    struct tagged_samples *tagged = batch->client->tagged;
    uint32_t count, library_count;
    const struct snapshot_function *functions = snapshot_functions(batch->snapshot, &count);
    const struct snapshot_library *libraries = snapshot_libraries(batch->snapshot, &library_count);

    if (tagged->functions.count > TAGGED_FUNCTIONS_MAX)
        forget_functions(tagged);
    batch->indices = calloc((size_t)count + 1, sizeof(*batch->indices));
    if (!batch->indices)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t known = tagged->functions.count;

        tags_add(&tagged->functions, functions[i].id);
        batch->indices[i] = tagged->functions.last;
        if (tagged->functions.count > known)
            put_ref(&tagged->refs, &functions[i], &libraries[functions[i].library]);
    }
    return !tagged->functions.failed && !tagged->refs.failed;
}

static void put_sample(struct json_text *text, const struct batch *batch,
                       const struct snapshot_sample *sample)
{
    json_text_literal(text, "{");
    sample_members(text, sample);
    json_text_literal(text, ",\"stack\":[");
    for (uint32_t i = 0; i < sample->depth; i++) {
        if (i)
            json_text_literal(text, ",");
        json_text_uint(text, batch->indices[batch->frames[sample->frames[i]].function]);
    }
    json_text_literal(text, "]}");
}

/* What the event says of its samples. */
struct extent {
    uint32_t count;
    int64_t first_us, last_us;
};

/* Appends those of the process. */
static struct extent put_samples(struct json_text *text, const struct batch *batch,
                                 uint64_t process_id)
{
    struct extent extent = { 0 };
    struct snapshot_sample sample;
    uint32_t cursor = 0;

    while (snapshot_next(batch->snapshot, &cursor, &sample)) {
        if (sample.process_id != process_id)
            continue;
        if (extent.count++)
            json_text_literal(text, ",");
        else
            extent.first_us = sample.timestamp_us;
        extent.last_us = sample.timestamp_us;
        put_sample(text, batch, &sample);
    }
    return extent;
}

static void put_head(struct json_text *text, const struct batch *batch,
                     const struct process_info *process, const struct extent *extent)
{
    const struct json_text *refs = &batch->client->tagged->refs;

    json_text_literal(text, "{\"type\":\"CpuSamplesEvent\"");
    json_text_member(text, ",\"samplePeriod\":", snapshot_period_us(batch->snapshot));
    json_text_member(text, ",\"maxStackDepth\":", snapshot_depth_max(batch->snapshot));
    json_text_member(text, ",\"sampleCount\":", extent->count);
    json_text_member(text, ",\"timeOriginMicros\":", extent->first_us);
    json_text_member(text, ",\"timeExtentMicros\":", extent->last_us - extent->first_us);
    json_text_member(text, ",\"pid\":", process->pid);
    json_text_literal(text, ",\"functions\":[");
    json_text_raw(text, refs->data, refs->length);
    json_text_literal(text, "],\"samples\":[");
}

static char *event_text(const struct batch *batch, const struct process_info *process)
{
    const struct isolates *isolates = &batch->client->service->isolates;
    const struct isolate *isolate = isolates_find(isolates, (int64_t)process->id);
    struct json_text samples = { 0 }, text = { 0 };
    struct extent extent = put_samples(&samples, batch, process->id);
    json_t *event =
        isolate_event(KIND_CPU_SAMPLES, isolate, service_now_ms(batch->client->service));
    char *head = rpc_notification_text(stream_id_words[STREAM_ID_PROFILER], event);

    if (head) /* without its three last braces: another member follows */
        json_text_raw(&text, head, strlen(head) - strlen("}}}"));
    json_text_literal(&text, ",\"cpuSamples\":");
    put_head(&text, batch, process, &extent);
    json_text_raw(&text, samples.data, samples.length);
    json_text_raw(&text, "]}}}}", sizeof("]}}}}"));
    if (!head || samples.failed || text.failed)
        json_text_free(&text);
    free(head);
    json_text_free(&samples);
    return text.data;
}

static bool has_samples(const struct batch *batch, const struct process_info *process)
{
    struct snapshot_sample sample;
    uint32_t cursor = 0;

    while (snapshot_next(batch->snapshot, &cursor, &sample))
        if (sample.process_id == process->id)
            return true;
    return false;
}

/* False: out of memory, and nothing was sent. */
static bool send_batch(struct batch *batch)
{
    const struct isolates *isolates = &batch->client->service->isolates;
    const struct process_info *process = NULL;
    uint32_t frame_count;

    /* Some may be of a process that came just now. */
    if (service_refresh(batch->client->service) < 0 || !number_functions(batch))
        return false;
    batch->frames = snapshot_frames(batch->snapshot, &frame_count);
    while ((process = isolates_next(isolates, process)))
        if (has_samples(batch, process))
            client_push_text(batch->client, event_text(batch, process));
    return true;
}

/* 1: it goes on in another turn. */
static int take_next(struct client *client)
{
    struct tagged_samples *tagged = client->tagged;
    struct snapshot_window window = { .user_tags = tagged->tags,
                                      .since = &tagged->cursor,
                                      .count_max = TAGGED_SAMPLES_MAX,
                                      .counted = true };
    int rc = 0;

    if (!tagged->half) {
        tagged->polls = client->service->polls;
        rc = snapshot_begin(&tagged->half, client->service->options.profile, &window);
    }
    return rc ? rc : snapshot_step(tagged->half, &client->service->work);
}

/* Returns whether there may be more. */
static bool send_taken(struct client *client, struct snapshot *snapshot)
{
    struct tagged_samples *tagged = client->tagged;
    uint32_t count = snapshot_sample_count(snapshot);
    struct batch batch = { .client = client, .snapshot = snapshot };

    work_off(&client->service->work, WORK_EVENT + count * WORK_SAMPLE);
    if (count) {
        bool sent = send_batch(&batch);

        free(batch.indices);
        if (!sent)
            return false;
        tagged->told_us = client->service->options.monotonic_us();
    }
    tagged->cursor = snapshot_cursor(snapshot);
    return count >= TAGGED_SAMPLES_MAX;
}

/* An event is composed as a whole, which needs most of a turn. */
static bool has_room_for_event(const struct client *client)
{
    return client->service->work >= WORK_TURN / 2;
}

/* Returns whether there may be more. While names are read it fails, too; who reads them calls the
 * service again, or has called it meanwhile. */
static bool send_some(struct client *client)
{
    struct tagged_samples *tagged = client->tagged;
    int rc = take_next(client);
    bool more;

    if (rc > 0)
        return true;
    if (!rc && !has_room_for_event(client)) {
        work_end(&client->service->work);
        return true;
    }
    more = rc ? rc == -ISOSCOPE_PENDING && tagged->polls != client->service->polls
              : send_taken(client, tagged->half);
    forget_half(tagged);
    return more;
}

static bool listens(const struct client *client)
{
    return client->tagged->tags && client->streams & 1u << STREAM_ID_PROFILER;
}

bool tagged_samples_works(const struct client *client)
{
    return client->tagged->more && listens(client) && client->outbox.bytes < TAGGED_BYTES_MAX;
}

void tagged_samples_resume(struct client *client)
{
    while (client->service->work > 0 && tagged_samples_works(client))
        client->tagged->more = send_some(client);
}

void tagged_samples_send(struct client *client)
{
    client->tagged->more = true;
    tagged_samples_resume(client);
}

/* Where there is no room, it goes on when there is. */
void tagged_samples_poll(struct client *client)
{
    int64_t left_us = client->tagged->told_us + TURN_US - client->service->options.monotonic_us();

    if (!listens(client))
        return forget_half(client->tagged);
    if (left_us > 0)
        return service_poll_in(client->service, left_us);
    tagged_samples_send(client);
}
