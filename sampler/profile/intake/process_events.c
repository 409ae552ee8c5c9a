#include "process_events.h"

#include "../base/grow.h"

#include <stdlib.h>
#include <string.h>

struct process_events {
    struct event_store *store;
    struct streams *streams;
    uint64_t serial;     /* of all that ever were: its words' keys are nobody else's */
    struct map64 places; /* feed's place -> word's number + 1 */
    struct event_word *words;
    uint32_t word_count, word_capacity;
    struct event_word stream_words[FEED_STREAMS_MAX];
    uint32_t stream_count;    /* of the feed, when its streams were last looked at */
    uint64_t streams_version; /* then; 0: never */
    uint64_t wanted;          /* what the program was told; at first it writes all */
    struct track *own;        /* the service's events; NULL: there was none */
};

/* Words have 24 bits of a key: the names of a feed are 1 MiB. */
enum { WORD_BITS = 24 };
static_assert(FEED_NAMES_BYTES < 1 << WORD_BITS, "layout");

struct process_events *process_events_of(struct process *process, struct event_store *store,
                                         struct streams *streams)
{
    static _Atomic uint64_t serials;
    struct process_events *events = process->events;

    if (events)
        return events;
    events = calloc(1, sizeof(*events));
    if (!events)
        return NULL;
    events->store = store;
    events->streams = streams;
    events->serial = atomic_fetch_add_explicit(&serials, 1, memory_order_relaxed) + 1;
    events->wanted = UINT64_MAX;
    process->events = events;
    return events;
}

void process_events_end_track(struct process_events *events, struct track *track, int64_t at_us)
{
    event_store_end_track(events->store, track, at_us * 1000);
}

void process_events_free(struct process_events *events, int64_t at_us)
{
    if (!events)
        return;
    if (events->own)
        process_events_end_track(events, events->own, at_us);
    for (uint32_t i = 0; i < events->word_count; i++)
        free((char *)events->words[i].text);
    free(events->words);
    map64_free(&events->places);
    free(events);
}

/* Without memory it is "". */
static struct event_word add_word(struct process_events *events, const char *name)
{
    struct event_word word = { .bytes = (uint32_t)strlen(name) };

    if (!GROW(events->words, events->word_count, events->word_capacity) ||
        !(word.text = strdup(name)))
        return (struct event_word){ 0 };
    word.key = events->serial << WORD_BITS | (events->word_count + 1);
    events->words[events->word_count++] = word;
    return word;
}

/* Of a name in the feed; one that cannot be read is "". */
static struct event_word word_of(struct process_events *events, struct process *process,
                                 uint32_t place)
{
    char name[FEED_NAME_MAX + 1];
    uint32_t *number;
    bool added;

    if (!place || !(number = map64_put(&events->places, place, &added)))
        return (struct event_word){ 0 };
    if (added && feed_reader_name(process->reader, place, name) && add_word(events, name).text)
        *number = events->word_count;
    return *number ? events->words[*number - 1] : (struct event_word){ 0 };
}

static struct event_word stream_of(struct process_events *events, struct process *process,
                                   uint32_t place)
{
    struct event_word *word = &events->stream_words[place];
    char name[FEED_NAME_MAX + 1];

    if (!word->text && feed_reader_stream(process->reader, place, name))
        *word = add_word(events, name);
    return *word;
}

/* All places are wanted that have no name yet, or one that is recorded. */
static uint64_t wanted_places(struct process_events *events, struct process *process,
                              uint32_t count)
{
    uint64_t wanted = UINT64_MAX;

    for (uint32_t place = 0; place < FEED_STREAMS_MAX; place++) {
        char name[FEED_NAME_MAX + 1];

        if ((place < FEED_STREAM_COUNT || place < count) &&
            feed_reader_stream(process->reader, place, name) &&
            !streams_meet(events->streams, name))
            wanted &= ~(UINT64_C(1) << place);
    }
    return wanted;
}

void process_events_want(struct process_events *events, struct process *process)
{
    uint32_t count = feed_reader_streams(process->reader);
    uint64_t version = streams_version(events->streams), wanted;

    if (version == events->streams_version && count == events->stream_count)
        return;
    events->streams_version = version;
    events->stream_count = count;
    wanted = wanted_places(events, process, count);
    if (wanted == events->wanted)
        return;
    events->wanted = wanted;
    feed_reader_want_streams(process->reader, wanted);
}

#define IS(phase, kind) [FEED_EVENT_##phase] = TIMELINE_##kind
static const enum timeline_kind kinds[FEED_EVENT_PHASE_COUNT] = {
    IS(BEGIN, SLICE),
    IS(END, SLICE),
    IS(COMPLETE, SLICE),
    IS(INSTANT, INSTANT),
    IS(ASYNC_BEGIN, ASYNC_BEGIN),
    IS(ASYNC_INSTANT, ASYNC_INSTANT),
    IS(ASYNC_END, ASYNC_END),
    IS(FLOW_BEGIN, FLOW_BEGIN),
    IS(FLOW_STEP, FLOW_STEP),
    IS(FLOW_END, FLOW_END),
    IS(COUNTER, COUNTER),
    IS(FRAME, FRAME),
};
#undef IS

static void fill(struct process_events *events, struct process *process,
                 const struct feed_event_parts *parts, struct event *out,
                 struct event_argument arguments[FEED_EVENT_ARGUMENTS_MAX])
{
    *out = (struct event){ .kind = kinds[parts->phase],
                           .complete = parts->phase == FEED_EVENT_COMPLETE,
                           .start_ns = parts->timestamp_ns,
                           .duration_ns = parts->duration_ns,
                           .id = parts->id,
                           .name = word_of(events, process, parts->name),
                           .stream = stream_of(events, process, parts->stream),
                           .argument_count = parts->argument_count,
                           .arguments = arguments };
    for (uint32_t i = 0; i < parts->argument_count; i++) {
        const struct feed_event_argument *from = &parts->arguments[i];

        arguments[i].name = word_of(events, process, from->name);
        arguments[i].type = from->type;
        if (from->type == FEED_ARGUMENT_TEXT)
            arguments[i].text = (struct event_word){ from->text, (uint32_t)from->value, 0 };
        else
            arguments[i].word = from->value;
    }
}

/* Known by the name that it has now; NULL: no memory. */
static struct track *track_of(struct process_events *events, struct process *process,
                              struct process_slot *slot, const struct feed_thread_view *view)
{
    if (!slot->track)
        event_store_track(events->store, process->event_owner, view->tid, view->name, &slot->track);
    return slot->track;
}

/* Where they are missing stands an event that says so. */
static void store_loss(struct event_store *store, struct track *track,
                       const struct feed_event_parts *parts)
{
    const struct event_argument count = { .name = EVENT_WORD("count"),
                                          .type = FEED_ARGUMENT_UINT,
                                          .word = parts->id };
    const struct event event = { .kind = TIMELINE_INSTANT,
                                 .start_ns = parts->timestamp_ns,
                                 .name = EVENT_WORD("Events lost"),
                                 .stream = EVENT_WORD(SERVICE_STREAM),
                                 .argument_count = 1,
                                 .arguments = &count };

    event_store_lost(store, track, parts->timestamp_ns, FEED_LOST_ENDED(parts->duration_ns),
                     FEED_LOST_BEGUN(parts->duration_ns));
    if (parts->id)
        event_store_put(store, track, &event);
}

static void store_event(struct event_store *store, struct track *track,
                        const struct feed_event_parts *parts, const struct event *event)
{
    switch (parts->phase) {
    case FEED_EVENT_BEGIN:
        event_store_begin(store, track, event);
        break;
    case FEED_EVENT_END:
        event_store_end(store, track, event);
        break;
    case FEED_EVENT_LOST:
        store_loss(store, track, parts);
        break;
    default:
        event_store_put(store, track, event);
    }
}

static bool is_possible(const struct feed_event_parts *parts, int64_t possible_ns)
{
    return parts->timestamp_ns >= 0 && parts->timestamp_ns <= possible_ns &&
           (parts->phase == FEED_EVENT_LOST ||
            parts->duration_ns <= (uint64_t)(possible_ns - parts->timestamp_ns));
}

bool process_events_take(struct process_events *events, struct process *process,
                         struct process_slot *slot, const struct feed_thread_view *view,
                         const struct feed_event_parts *parts, int64_t possible_ns)
{
    struct event_argument arguments[FEED_EVENT_ARGUMENTS_MAX];
    struct track *track = track_of(events, process, slot, view);
    struct event event;

    if (!is_possible(parts, possible_ns))
        return false;
    if (!track) {
        event_store_refuse(events->store);
        return true;
    }
    fill(events, process, parts, &event, arguments);
    store_event(events->store, track, parts, &event);
    return true;
}

void process_events_tell(struct process *process, const char *stream, const char *name,
                         int64_t at_us, const struct event_argument *arguments, uint32_t count)
{
    struct process_events *events = process->events;
    const struct event event = { .kind = TIMELINE_INSTANT,
                                 .start_ns = at_us * 1000,
                                 .name = EVENT_WORD(name),
                                 .stream = EVENT_WORD(stream),
                                 .argument_count = count,
                                 .arguments = arguments };

    if (!streams_recorded(events->streams, stream))
        return;
    if (!events->own &&
        event_store_track(events->store, process->service_owner, 0, "isoscope", &events->own) < 0)
        event_store_refuse(events->store);
    else
        event_store_put(events->store, events->own, &event);
}

void process_events_put(struct process *process, struct event_store *store, struct streams *streams,
                        int32_t tid, const char *thread_name, const struct event *event)
{
    struct track *track;

    if (!streams_recorded(streams, event->stream.text))
        return;
    if (event_store_track(store, process->event_owner, tid, thread_name, &track) < 0) {
        event_store_refuse(store);
        return;
    }
    event_store_put(store, track, event);
    event_store_end_track(store, track, event->start_ns);
}
