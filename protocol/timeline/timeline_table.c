#include "timeline_table.h"

#include "numbering.h"
#include "timeline_cursor_text.h"
#include "timeline_words.h"
#include "../../sampler/include/isoscope/isoscope.h"

#include <stdlib.h>
#include <string.h>

/* Events of a block, and the work of one: some hundred nanoseconds. */
enum { BLOCK = 4096, WORK_EVENT = 16 };

/* Lists of a block that are filled event by event. */
#define COLUMNS(X)                                                                                 \
    X(TEXTS, "texts")                                                                              \
    X(NEW_THREADS, "newThreads")                                                                   \
    X(KINDS, "kinds")                                                                              \
    X(THREADS, "threads")                                                                          \
    X(NAMES, "names")                                                                              \
    X(STREAMS, "streams")                                                                          \
    X(STARTS, "startDeltas")                                                                       \
    X(DURATIONS, "durations")                                                                      \
    X(DEPTHS, "depths")                                                                            \
    X(MARKED, "marked")                                                                            \
    X(MARKS, "marks")                                                                              \
    X(IDENTIFIED, "identified")                                                                    \
    X(IDS, "ids")                                                                                  \
    X(ARGUMENT_EVENTS, "argumentEvents")                                                           \
    X(ARGUMENT_NAMES, "argumentNames")                                                             \
    X(ARGUMENT_VALUES, "argumentValues")

#define COLUMN_NUMBER(name, wire) COLUMN_##name,
#define COLUMN_NAME(name, wire)   ",\"" wire "\":[",
enum column { COLUMNS(COLUMN_NUMBER) COLUMN_COUNT };
static const char *const column_names[COLUMN_COUNT] = { COLUMNS(COLUMN_NAME) };

struct timeline_table {
    struct reply_stream stream; /* the first: this is one */
    struct profile *profile;
    struct timeline *timeline;
    uint64_t cursor;             /* of timeline_next: behind ahead */
    struct timeline_event ahead; /* the next one, while there is one */
    bool any_ahead, in_open, any_block;
    uint64_t counts[2]; /* in blocks, in open */
    struct numbering texts, threads;
    uint64_t process_id; /* of the thread before */
    int32_t pid;
    uint32_t shown; /* of the block */
    int64_t last_ns;
    struct json_text columns[COLUMN_COUNT];
};

/* Each entry of a list has a comma in front; the first one's is left out when the list is told. */
static struct json_text *entry(struct timeline_table *table, enum column column)
{
    json_text_literal(&table->columns[column], ",");
    return &table->columns[column];
}

static void put_uint(struct timeline_table *table, enum column column, uint64_t value)
{
    json_text_uint(entry(table, column), value);
}

static void put_text(struct timeline_table *table, enum column column, const char *text)
{
    const char *shown = text ? text : "";
    bool is_new;
    uint32_t number = numbering_of_text(&table->texts, shown, &is_new);

    if (is_new)
        json_text_string(entry(table, COLUMN_TEXTS), shown);
    put_uint(table, column, number);
}

static int32_t pid_of(struct timeline_table *table, uint64_t process_id)
{
    struct process_info process = { 0 };

    if (table->process_id != process_id && profile_process(table->profile, process_id, &process)) {
        table->process_id = process_id;
        table->pid = process.pid;
    }
    return table->pid;
}

static void tell_thread(struct timeline_table *table, const struct timeline_event *event)
{
    struct json_text *text = entry(table, COLUMN_NEW_THREADS);

    json_text_literal(text, "{\"isolateId\":\"isolates/");
    json_text_uint(text, event->process_id);
    json_text_member(text, "\",\"pid\":", pid_of(table, event->process_id));
    json_text_member(text, ",\"tid\":", event->tid);
    json_text_literal(text, ",\"name\":");
    json_text_string(text, event->thread_name ? event->thread_name : "");
    json_text_literal(text, "}");
}

static void put_thread(struct timeline_table *table, const struct timeline_event *event)
{
    bool is_new;
    uint32_t number =
        numbering_of(&table->threads, event->process_id, (uint32_t)event->tid, &is_new);

    if (is_new)
        tell_thread(table, event);
    put_uint(table, COLUMN_THREADS, number);
}

static void put_arguments(struct timeline_table *table, const struct timeline_event *event)
{
    for (uint32_t i = 0; i < event->argument_count; i++) {
        put_uint(table, COLUMN_ARGUMENT_EVENTS, table->shown);
        put_text(table, COLUMN_ARGUMENT_NAMES, event->arguments[i].name);
        timeline_put_value(entry(table, COLUMN_ARGUMENT_VALUES), &event->arguments[i]);
    }
}

static void put_sparse(struct timeline_table *table, const struct timeline_event *event)
{
    const char *mark = timeline_mark_word(event->mark);

    if (mark) {
        put_uint(table, COLUMN_MARKED, table->shown);
        json_text_string(entry(table, COLUMN_MARKS), mark);
    }
    if (timeline_kind_has_id(event->kind)) {
        put_uint(table, COLUMN_IDENTIFIED, table->shown);
        timeline_put_id(entry(table, COLUMN_IDS), event->id);
    }
    put_arguments(table, event);
}

static void put_event(struct timeline_table *table, const struct timeline_event *event)
{
    put_uint(table, COLUMN_KINDS, event->kind);
    put_thread(table, event);
    put_text(table, COLUMN_NAMES, event->name);
    put_text(table, COLUMN_STREAMS, event->stream);
    json_text_int(entry(table, COLUMN_STARTS), event->start_ns - table->last_ns);
    put_uint(table, COLUMN_DURATIONS, event->duration_ns);
    put_uint(table, COLUMN_DEPTHS, event->depth);
    put_sparse(table, event);
    table->last_ns = event->start_ns;
    table->shown++;
}

static void look_ahead(struct timeline_table *table)
{
    table->any_ahead = timeline_next(table->timeline, &table->cursor, &table->ahead);
}

static bool is_open(const struct timeline_table *table)
{
    return table->ahead.mark == TIMELINE_OPEN;
}

/* Open ones stand behind all others. */
static bool goes_on(const struct timeline_table *table)
{
    return table->any_ahead && is_open(table) == table->in_open;
}

static void tell_block(struct timeline_table *table, int64_t origin_us)
{
    struct json_text *text = &table->stream.carry;

    json_text_comma(text, &table->any_block);
    json_text_member(text, "{\"timeOriginMicros\":", origin_us);
    for (int i = 0; i < COLUMN_COUNT; i++) {
        struct json_text *column = &table->columns[i];

        json_text_raw(text, column_names[i], strlen(column_names[i]));
        if (column->length)
            json_text_raw(text, column->data + 1, column->length - 1);
        json_text_literal(text, "]");
        table->stream.failed |= column->failed;
        column->length = 0;
    }
    json_text_literal(text, "}");
    table->stream.failed |= table->texts.failed || table->threads.failed;
}

static void put_block(struct timeline_table *table)
{
    int64_t origin_us = table->ahead.start_ns / 1000;

    table->last_ns = origin_us * 1000;
    table->shown = 0;
    while (goes_on(table) && table->shown < BLOCK) {
        put_event(table, &table->ahead);
        look_ahead(table);
    }
    table->counts[table->in_open] += table->shown;
    work_off(table->stream.work, table->shown * WORK_EVENT);
    tell_block(table, origin_us);
}

static void put_end(struct timeline_table *table)
{
    struct json_text *text = &table->stream.carry;

    json_text_member(text, "],\"eventCount\":", (int64_t)table->counts[0]);
    json_text_member(text, ",\"openCount\":", (int64_t)table->counts[1]);
    if (timeline_more(table->timeline))
        json_text_literal(text, ",\"more\":true");
    json_text_literal(text, "}}");
    table->stream.done = true;
}

static void put_next(struct reply_stream *stream)
{
    struct timeline_table *table = (struct timeline_table *)stream;

    if (goes_on(table))
        return put_block(table);
    if (table->in_open)
        return put_end(table);
    json_text_literal(&stream->carry, "],\"open\":[");
    table->in_open = true;
    table->any_block = false;
}

static void free_table(struct reply_stream *stream)
{
    struct timeline_table *table = (struct timeline_table *)stream;

    timeline_free(table->timeline);
    numbering_free(&table->texts);
    numbering_free(&table->threads);
    for (int i = 0; i < COLUMN_COUNT; i++)
        json_text_free(&table->columns[i]);
    free(table);
}

static void put_history(struct json_text *text, struct profile *profile)
{
    struct timeline_history history = profile_timeline_history(profile);

    json_text_member(text, ",\"history\":{\"bytes\":", (int64_t)history.bytes);
    json_text_member(text, ",\"bytesMax\":", (int64_t)history.bytes_max);
    json_text_member(text, ",\"events\":", (int64_t)history.events);
    json_text_member(text, ",\"evicted\":", (int64_t)history.evicted);
    json_text_member(text, ",\"lost\":", (int64_t)history.lost);
    json_text_member(text, ",\"unstored\":", (int64_t)history.unstored);
    json_text_member(text, ",\"unmatched\":", (int64_t)history.unmatched);
    json_text_member(text, ",\"cutOff\":", (int64_t)history.cut_off);
    json_text_member(text, ",\"tooDeep\":", (int64_t)history.too_deep);
    json_text_member(text, ",\"backward\":", (int64_t)history.backward);
    if (history.events) {
        json_text_member(text, ",\"firstMicros\":", history.first_ns / 1000);
        json_text_member(text, ",\"lastMicros\":", history.last_ns / 1000);
    }
    json_text_literal(text, "}");
}

static void put_head(struct timeline_table *table, const char *envelope)
{
    struct json_text *text = &table->stream.carry;
    struct timeline_cursor cursor = timeline_cursor(table->timeline);
    char next[TIMELINE_CURSOR_MAX];

    timeline_cursor_text(&cursor, next);
    json_text_raw(text, envelope, strlen(envelope));
    json_text_literal(text, "{\"type\":\"_TimelineTable\",\"kinds\":[");
    for (int i = 0; i < TIMELINE_KINDS; i++) {
        if (i)
            json_text_literal(text, ",");
        json_text_string(text, timeline_kind_words[i]);
    }
    json_text_literal(text, "]");
    if (timeline_reset(table->timeline))
        json_text_literal(text, ",\"reset\":true");
    put_history(text, table->profile);
    json_text_literal(text, ",\"next\":");
    json_text_string(text, next);
    json_text_literal(text, ",\"blocks\":[");
}

static const struct reply_stream_kind kind = { put_next, free_table };

int timeline_table_new(struct reply_stream **out, struct timeline *timeline,
                       struct profile *profile, const char *envelope)
{
    struct timeline_table *table = calloc(1, sizeof(*table));

    if (!table) {
        timeline_free(timeline);
        return -ISOSCOPE_NO_MEMORY;
    }
    table->stream.kind = &kind;
    table->profile = profile;
    table->timeline = timeline;
    put_head(table, envelope);
    look_ahead(table);
    *out = &table->stream;
    return 0;
}
