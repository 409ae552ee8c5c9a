#include "event_loading.h"

#include <stdlib.h>
#include <string.h>

static const char no_memory[] = "out of memory";
static const char wrong_lengths[] = "its columns have other lengths than it says";

enum { DEPTH_MAX = 1 << 16 };

struct loading {
    const struct event_outline *outline;
    int64_t shift_ns;
    struct event_chunk *chunk;
    struct event_index index;
    struct column columns[EVENT_COLUMNS];
    struct event_word *texts; /* by number; [0] is "" */
    uint32_t text_count;
    uint32_t *left; /* events of each source that are still to come */
    int64_t end_ns;
    uint64_t id;
};

/* False: there are too many, or a text is too long. */
static const char *read_texts(struct loading *loading)
{
    struct column *lengths = &loading->columns[EVENT_COLUMN_TEXT_BYTES];
    struct column *texts = &loading->columns[EVENT_COLUMN_TEXTS];
    size_t room = (size_t)(lengths->end - lengths->at) + 1;

    if (room > EVENT_CHUNK_MAX)
        room = EVENT_CHUNK_MAX;
    loading->texts = calloc(room, sizeof(*loading->texts));
    if (!loading->texts)
        return no_memory;
    loading->text_count = 1;
    while (lengths->at < lengths->end && !lengths->bad) {
        uint64_t bytes = column_varint(lengths);

        if (loading->text_count == room || !bytes || bytes > EVENT_TEXT_MAX ||
            bytes > (uint64_t)(texts->end - texts->at))
            return "its texts are too many, or too long";
        loading->texts[loading->text_count] =
            (struct event_word){ (const char *)texts->at, (uint32_t)bytes, loading->text_count };
        loading->text_count++;
        texts->at += bytes;
    }
    return NULL;
}

static const struct event_word *text_in(struct loading *loading, enum event_column column)
{
    uint64_t number = column_varint(&loading->columns[column]);

    if (number < loading->text_count)
        return &loading->texts[number];
    loading->columns[column].bad = true;
    return &loading->texts[0];
}

static const char *read_sources(struct loading *loading)
{
    const struct event_outline *outline = loading->outline;

    loading->left = calloc(outline->source_count + 1, sizeof(*loading->left));
    if (!loading->left)
        return no_memory;
    for (uint32_t i = 0; i < outline->source_count; i++) {
        loading->left[i] = outline->sources[i].events;
        if (event_chunk_stream(loading->chunk, &loading->index, i,
                               text_in(loading, EVENT_COLUMN_STREAM)) < 0)
            return no_memory;
    }
    return NULL;
}

static uint64_t read_double(struct column *column)
{
    uint64_t bits = 0;

    for (uint32_t i = 0; i < sizeof(bits); i++)
        bits |= (uint64_t)column_byte(column) << 8 * i;
    return bits;
}

static void read_argument(struct loading *loading, struct event_argument *out)
{
    struct column *value = &loading->columns[EVENT_COLUMN_VALUE];
    uint8_t type = column_byte(&loading->columns[EVENT_COLUMN_ARGUMENT_TYPE]);

    out->name = *text_in(loading, EVENT_COLUMN_ARGUMENT_NAME);
    out->type = (enum feed_argument_type)type;
    switch (type) {
    case FEED_ARGUMENT_INT:
        out->word = (uint64_t)column_signed(value);
        break;
    case FEED_ARGUMENT_UINT:
        out->word = column_varint(value);
        break;
    case FEED_ARGUMENT_DOUBLE:
        out->word = read_double(&loading->columns[EVENT_COLUMN_DOUBLE]);
        break;
    case FEED_ARGUMENT_TEXT:
        out->text = *text_in(loading, EVENT_COLUMN_VALUE);
        break;
    default:
        value->bad = true;
    }
}

static void read_arguments(struct loading *loading, uint8_t what, struct event *event,
                           struct event_argument arguments[FEED_EVENT_ARGUMENTS_MAX])
{
    struct column *counts = &loading->columns[EVENT_COLUMN_ARGUMENTS];
    uint64_t count = EVENT_WORDS(what) ? column_varint(counts) : 0;

    if (count > FEED_EVENT_ARGUMENTS_MAX) {
        counts->bad = true;
        count = 0;
    }
    for (uint32_t i = 0; i < count; i++)
        read_argument(loading, &arguments[i]);
    event->argument_count = (uint32_t)count;
    event->arguments = arguments;
}

/* Aligned, no time is before 0. */
static bool place_in_time(struct loading *loading, struct event *event)
{
    const struct event_outline *outline = loading->outline;
    int64_t end_ns = (int64_t)((uint64_t)loading->end_ns +
                               (uint64_t)column_signed(&loading->columns[EVENT_COLUMN_TIME]));

    if (event_kind_lasts(event->kind))
        event->duration_ns = column_varint(&loading->columns[EVENT_COLUMN_DURATION]);
    loading->end_ns = end_ns;
    if (end_ns < outline->first_ns || end_ns > outline->last_ns ||
        event->duration_ns > (uint64_t)(end_ns - outline->first_ns))
        return false;
    event->start_ns = end_ns - (int64_t)event->duration_ns + loading->shift_ns;
    end_ns += loading->shift_ns;
    event->start_ns = event->start_ns > 0 ? event->start_ns : 0;
    event->duration_ns = end_ns > event->start_ns ? (uint64_t)(end_ns - event->start_ns) : 0;
    return true;
}

static bool find_source(struct loading *loading, struct event_filing *filing)
{
    uint64_t source = column_varint(&loading->columns[EVENT_COLUMN_SOURCE]);

    if (source >= loading->outline->source_count || !loading->left[source])
        return false;
    loading->left[source]--;
    filing->source = (uint16_t)source;
    return true;
}

static const char *read_event(struct loading *loading)
{
    struct event_argument arguments[FEED_EVENT_ARGUMENTS_MAX];
    uint8_t what = column_byte(&loading->columns[EVENT_COLUMN_WHAT]);
    struct event_filing filing = { .mark = EVENT_MARK(what) };
    struct event event = { .kind = EVENT_KIND(what), .complete = EVENT_COMPLETE(what) };
    uint64_t depth = 0;

    event.name = *text_in(loading, EVENT_COLUMN_NAME);
    if (event.kind >= TIMELINE_KINDS || !find_source(loading, &filing))
        return "an event has a kind or a source that is not there";
    if (!place_in_time(loading, &event))
        return "an event's time is not within its block's";
    if (event.kind == TIMELINE_SLICE)
        depth = column_varint(&loading->columns[EVENT_COLUMN_DEPTH]);
    if (event_kind_has_id(event.kind))
        event.id = loading->id += (uint64_t)column_signed(&loading->columns[EVENT_COLUMN_ID]);
    read_arguments(loading, what, &event, arguments);
    if (depth > DEPTH_MAX || !event_chunk_fits(loading->chunk))
        return "an event is too deep, or its words are too many";
    filing.depth = (uint32_t)depth;
    return event_chunk_append(loading->chunk, &loading->index, &event, &filing) < 0 ? no_memory
                                                                                    : NULL;
}

static bool all_read(const struct loading *loading)
{
    for (uint32_t i = 0; i < EVENT_COLUMNS; i++)
        if (!column_is_done(&loading->columns[i]))
            return false;
    return true;
}

static const char *read_all(struct loading *loading)
{
    const char *reason = read_texts(loading);

    if (!reason)
        reason = read_sources(loading);
    for (uint32_t i = 0; i < loading->outline->events && !reason; i++)
        reason = read_event(loading);
    return !reason && !all_read(loading) ? wrong_lengths : reason;
}

const char *event_columns_load(const struct bytes *content, const struct event_outline *outline,
                               int64_t shift_ns, struct event_chunk *chunk)
{
    struct loading loading = { .outline = outline, .shift_ns = shift_ns, .chunk = chunk };
    const char *reason;

    if (!columns_split(content->data, content->count, loading.columns, EVENT_COLUMNS))
        return wrong_lengths;
    reason = read_all(&loading);
    event_index_free(&loading.index);
    free(loading.texts);
    free(loading.left);
    return reason;
}
