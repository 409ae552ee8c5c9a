#include "event_columns.h"

#include "../../base/grow.h"

#include <string.h>

/* So that all of it finds room in a chunk, whatever it is. */
enum { RAW_BYTES_MAX = 1 << 20 };

void event_columns_begin(struct event_writing *writing)
{
    struct event_outline *outline = &writing->outline;

    columns_begin(&writing->columns, EVENT_COLUMNS);
    map64_free(&writing->texts);
    map64_free(&writing->sources);
    outline->events = outline->source_count = 0;
    outline->first_ns = INT64_MAX;
    outline->last_ns = INT64_MIN;
    writing->text_count = 1; /* number 0 is "" */
    writing->end_ns = 0;
    writing->id = 0;
}

void event_writing_free(struct event_writing *writing)
{
    columns_free(&writing->columns);
    map64_free(&writing->texts);
    map64_free(&writing->sources);
    event_outline_free(&writing->outline);
}

bool event_columns_full(const struct event_writing *writing)
{
    size_t bytes = 0;

    for (uint32_t i = 0; i < EVENT_COLUMNS; i++)
        bytes += writing->columns.list[i].count;
    return writing->outline.events >= EVENT_CHUNK_MAX || bytes >= RAW_BYTES_MAX ||
           writing->outline.source_count >= EVENT_CHUNK_SOURCES - 1 ||
           writing->text_count >= EVENT_CHUNK_MAX - 2 - 2 * FEED_EVENT_ARGUMENTS_MAX;
}

static bool text_number(struct event_writing *writing, const char *text, uint32_t *out)
{
    struct bytes *list = writing->columns.list;
    size_t bytes = strlen(text);
    uint32_t *place;
    bool added;

    *out = 0;
    if (!bytes)
        return true;
    place = map64_put(&writing->texts, (uint64_t)(uintptr_t)text, &added);
    if (!place)
        return false;
    if (added) {
        bytes_varint(&list[EVENT_COLUMN_TEXT_BYTES], bytes);
        bytes_put(&list[EVENT_COLUMN_TEXTS], text, bytes);
        *place = writing->text_count++;
    }
    *out = *place;
    return true;
}

static bool source_number(struct event_writing *writing, uint32_t thread, const char *stream,
                          uint32_t *out)
{
    struct event_outline *outline = &writing->outline;
    uint32_t text, *place;
    bool added;

    if (!text_number(writing, stream, &text) ||
        !GROW(outline->sources, outline->source_count, outline->source_capacity))
        return false;
    place = map64_put(&writing->sources, (uint64_t)thread << 32 | text, &added);
    if (!place)
        return false;
    if (added) {
        outline->sources[outline->source_count] = (struct event_outline_source){ .thread = thread };
        *place = outline->source_count++;
        bytes_varint(&writing->columns.list[EVENT_COLUMN_STREAM], text);
    }
    *out = *place;
    return true;
}

static void put_double(struct bytes *out, uint64_t bits)
{
    bytes_u32(out, (uint32_t)bits);
    bytes_u32(out, (uint32_t)(bits >> 32));
}

static bool put_argument(struct event_writing *writing, const struct timeline_argument *argument)
{
    struct bytes *list = writing->columns.list;
    uint32_t name, text;

    if (!text_number(writing, argument->name, &name))
        return false;
    bytes_varint(&list[EVENT_COLUMN_ARGUMENT_NAME], name);
    bytes_byte(&list[EVENT_COLUMN_ARGUMENT_TYPE], (uint8_t)argument->type);
    switch (argument->type) {
    case FEED_ARGUMENT_INT:
        bytes_signed(&list[EVENT_COLUMN_VALUE], argument->integer);
        return true;
    case FEED_ARGUMENT_DOUBLE:
        put_double(&list[EVENT_COLUMN_DOUBLE], argument->count);
        return true;
    case FEED_ARGUMENT_TEXT:
        if (!text_number(writing, argument->text, &text))
            return false;
        bytes_varint(&list[EVENT_COLUMN_VALUE], text);
        return true;
    default:
        bytes_varint(&list[EVENT_COLUMN_VALUE], argument->count);
        return true;
    }
}

static void put_numbers(struct event_writing *writing, const struct timeline_event *event)
{
    int64_t end_ns = event->start_ns + (int64_t)event->duration_ns;
    struct bytes *list = writing->columns.list;

    bytes_byte(&list[EVENT_COLUMN_WHAT],
               EVENT_WHAT(event->kind, event->mark, event->complete, event->argument_count > 0));
    bytes_signed(&list[EVENT_COLUMN_TIME], end_ns - writing->end_ns);
    writing->end_ns = end_ns;
    if (event_kind_lasts(event->kind))
        bytes_varint(&list[EVENT_COLUMN_DURATION], event->duration_ns);
    if (event->kind == TIMELINE_SLICE)
        bytes_varint(&list[EVENT_COLUMN_DEPTH], event->depth);
    if (event_kind_has_id(event->kind)) {
        bytes_signed(&list[EVENT_COLUMN_ID], (int64_t)(event->id - writing->id));
        writing->id = event->id;
    }
    if (event->argument_count)
        bytes_varint(&list[EVENT_COLUMN_ARGUMENTS], event->argument_count);
}

bool event_columns_add(struct event_writing *writing, uint32_t thread,
                       const struct timeline_event *event)
{
    int64_t end_ns = event->start_ns + (int64_t)event->duration_ns;
    struct event_outline *outline = &writing->outline;
    struct bytes *list = writing->columns.list;
    uint32_t source, name;

    if (!source_number(writing, thread, event->stream, &source) ||
        !text_number(writing, event->name, &name))
        return false;
    bytes_varint(&list[EVENT_COLUMN_SOURCE], source);
    bytes_varint(&list[EVENT_COLUMN_NAME], name);
    put_numbers(writing, event);
    for (uint32_t i = 0; i < event->argument_count; i++)
        if (!put_argument(writing, &event->arguments[i]))
            return false;
    outline->events++;
    outline->sources[source].events++;
    outline->first_ns = event->start_ns < outline->first_ns ? event->start_ns : outline->first_ns;
    outline->last_ns = end_ns > outline->last_ns ? end_ns : outline->last_ns;
    return true;
}

json_t *event_columns_outline(const struct event_writing *writing)
{
    const struct event_outline *outline = &writing->outline;
    json_t *sources = json_array();

    for (uint32_t i = 0; i < outline->source_count; i++)
        json_array_append_new(sources, json_pack("[I, I]", (json_int_t)outline->sources[i].thread,
                                                 (json_int_t)outline->sources[i].events));
    return json_pack("{s:I, s:I, s:I, s:o}", "events", (json_int_t)outline->events, "firstNs",
                     (json_int_t)outline->first_ns, "lastNs", (json_int_t)outline->last_ns,
                     "sources", sources);
}

void event_columns_end(struct event_writing *writing, struct bytes *out)
{
    columns_end(&writing->columns, out);
}

void event_outline_free(struct event_outline *outline)
{
    free(outline->sources);
    *outline = (struct event_outline){ 0 };
}

void event_outline_read(struct entry *entry, struct event_outline *out)
{
    const json_t *list = entry_list(entry, "sources");
    uint64_t sum = 0;

    out->events = (uint32_t)entry_int(entry, "events", 1, EVENT_CHUNK_MAX);
    out->first_ns = entry_int(entry, "firstNs", 0, INT64_MAX / 4);
    out->last_ns = entry_int(entry, "lastNs", 0, INT64_MAX / 4);
    if (!entry->bad && (!out->events || out->first_ns > out->last_ns ||
                        json_array_size(list) > EVENT_CHUNK_SOURCES))
        entry_fail(entry, "'events', its times or its sources are out of range");
    for (size_t i = 0; i < json_array_size(list) && !entry->bad; i++) {
        const json_t *pair = json_array_get(list, i);

        if (!GROW(out->sources, out->source_count, out->source_capacity)) {
            entry_fail(entry, "out of memory");
            return;
        }
        out->sources[out->source_count++] = (struct event_outline_source){
            .thread = (uint32_t)entry_int_at(entry, "sources", pair, 0, 1, UINT32_MAX),
            .events = (uint32_t)entry_int_at(entry, "sources", pair, 1, 0, out->events),
        };
        sum += out->sources[out->source_count - 1].events;
    }
    if (!entry->bad && sum != out->events)
        entry_fail(entry, "'sources' are not those of %u events", out->events);
}
