#include "otlp_writer.h"

#include "otlp_fields.h"
#include "../text/protobuf.h"

#include <stdlib.h>

enum { COLUMNS_MAX = 2 * PPROF_PAIRS_MAX, PIECE_BYTES = 16 * 1024 };

enum part {
    PART_STACKS,  /* into the dictionary, while samples are measured */
    PART_STRINGS, /* are measured, when there are no more to come */
    PART_HEAD,
    PART_SAMPLES, /* of one column after the other */
    PART_DICTIONARY,
    PART_TABLES,
    PART_TEXTS,
    PART_END,
};

struct otlp_writer {
    struct reply_stream stream; /* the first: this is one */
    struct pprof_profile *profile;
    enum part part;
    size_t at; /* the next sample, byte of the tables, or string */
    unsigned column;
    struct interned stacks;
    uint32_t *stack_of;                  /* each sample's, in the dictionary */
    size_t samples_length[COLUMNS_MAX];  /* with their heads */
    struct json_text heads[COLUMNS_MAX]; /* the profiles' fields but the samples */
    struct json_text nothing;            /* the dictionary's entries 0 */
    size_t strings_length;
    struct json_text scratch;
};

/* Amounts come first: a reader shows the first profile. */
static unsigned column_at(const struct otlp_writer *writer, unsigned place)
{
    unsigned count = writer->profile->columns->count;

    return count < 2 ? place : place ^ 1;
}

/* One that nothing is in is left out. */
static bool is_empty(const struct otlp_writer *writer, unsigned column)
{
    return !writer->samples_length[column];
}

static void put_type(struct otlp_writer *writer, struct json_text *out, uint32_t field,
                     const struct pprof_type *type)
{
    size_t message;

    if (!type->type)
        return;
    message = protobuf_begin(out, field);
    protobuf_uint(out, OTLP_VALUE_TYPE_TYPE, pprof_string(&writer->profile->tables, type->type));
    protobuf_uint(out, OTLP_VALUE_TYPE_UNIT, pprof_string(&writer->profile->tables, type->unit));
    protobuf_end(out, message);
}

static void put_id(struct otlp_writer *writer, struct json_text *out, unsigned column)
{
    uint8_t id[sizeof(writer->profile->id)];

    memcpy(id, writer->profile->id, sizeof(id));
    id[sizeof(id) - 1] ^= (uint8_t)column;
    protobuf_head(out, OTLP_PROFILE_ID, sizeof(id));
    json_text_raw(out, (const char *)id, sizeof(id));
}

static void put_comments(struct otlp_writer *writer, struct json_text *out)
{
    const struct pprof_profile *profile = writer->profile;
    uint32_t attribute = otlp_attribute_list(pprof_dictionary(&writer->profile->tables),
                                             "pprof.profile.comment", profile->comments[0],
                                             sizeof(profile->comments[0]), profile->comment_count);
    size_t list = protobuf_begin(out, OTLP_PROFILE_ATTRIBUTE_INDICES);

    protobuf_packed(out, attribute);
    protobuf_end(out, list);
}

static void compose_head(struct otlp_writer *writer, unsigned column)
{
    const struct pprof_profile *profile = writer->profile;
    const struct pprof_columns *columns = profile->columns;
    struct json_text *out = &writer->heads[column];

    put_type(writer, out, OTLP_PROFILE_SAMPLE_TYPE, &columns->types[column]);
    protobuf_fixed(out, OTLP_PROFILE_TIME_UNIX_NANO, profile->time_ns);
    protobuf_uint(out, OTLP_PROFILE_DURATION_NANO, profile->duration_ns);
    put_type(writer, out, OTLP_PROFILE_PERIOD_TYPE, &columns->period);
    if (columns->period.type)
        protobuf_uint(out, OTLP_PROFILE_PERIOD, profile->period);
    put_id(writer, out, column);
    put_comments(writer, out);
}

/* A dictionary's entry 0 stands for none: it is there, and empty. The strings' is among them. */
static void compose_nothing(struct otlp_writer *writer)
{
    static const uint32_t tables[] = {
        OTLP_DICTIONARY_MAPPING_TABLE,   OTLP_DICTIONARY_LOCATION_TABLE,
        OTLP_DICTIONARY_FUNCTION_TABLE,  OTLP_DICTIONARY_LINK_TABLE,
        OTLP_DICTIONARY_ATTRIBUTE_TABLE, OTLP_DICTIONARY_STACK_TABLE
    };

    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
        protobuf_head(&writer->nothing, tables[i], 0);
}

static void next_part(struct otlp_writer *writer)
{
    writer->part++;
    writer->at = 0;
    writer->stream.done = writer->part == PART_END;
}

static uint32_t stack_of(struct otlp_writer *writer, const struct pprof_entry *entry)
{
    struct json_text *out = &writer->scratch, *bytes = &writer->profile->tables.bytes;
    uint32_t number;
    size_t list;
    bool added;

    out->length = 0;
    list = protobuf_begin(out, OTLP_STACK_LOCATION_INDICES);
    for (size_t i = 0; i < entry->depth; i++)
        protobuf_packed(out, pprof_entry_location(entry, i));
    protobuf_end(out, list);
    if (out->failed)
        return 0;
    number = interned_put(&writer->stacks, out->data, out->length, &added) + 1;
    if (added) {
        protobuf_head(bytes, OTLP_DICTIONARY_STACK_TABLE, out->length);
        json_text_raw(bytes, out->data, out->length);
    }
    return number;
}

/* Nothing, where its value is 0. */
static void put_sample(const struct otlp_writer *writer, struct json_text *out, uint32_t number,
                       unsigned column)
{
    const struct pprof_entry entry = pprof_samples_entry(&writer->profile->samples, number);
    uint64_t value = pprof_sums_value(entry.sums, column);
    size_t message, list;

    if (!value)
        return;
    message = protobuf_begin(out, OTLP_PROFILE_SAMPLES);
    protobuf_uint(out, OTLP_SAMPLE_STACK_INDEX, writer->stack_of[number]);
    json_text_raw(out, entry.labels, entry.labels_length);
    list = protobuf_begin(out, OTLP_SAMPLE_VALUES);
    protobuf_packed(out, value);
    protobuf_end(out, list);
    protobuf_end(out, message);
}

static void begin_strings(struct otlp_writer *writer)
{
    for (unsigned column = 0; column < writer->profile->columns->count; column++)
        if (!is_empty(writer, column))
            compose_head(writer, column);
    compose_nothing(writer);
    pprof_string(&writer->profile->tables, ""); /* there is one at least */
    next_part(writer);
}

static void take_stack(struct otlp_writer *writer)
{
    struct pprof_samples *samples = &writer->profile->samples;
    uint32_t number = (uint32_t)writer->at;
    struct pprof_entry entry;

    if (writer->at == pprof_samples_count(samples))
        return begin_strings(writer);
    entry = pprof_samples_entry(samples, number);
    writer->stack_of[number] = stack_of(writer, &entry);
    for (unsigned column = 0; column < writer->profile->columns->count; column++) {
        writer->scratch.length = 0;
        put_sample(writer, &writer->scratch, number, column);
        writer->samples_length[column] += writer->scratch.length;
    }
    writer->at++;
}

static void put_string(const struct otlp_writer *writer, struct json_text *out, uint32_t number)
{
    size_t size;
    const char *text = interned_text(&writer->profile->tables.strings, number, &size);

    protobuf_text(out, OTLP_DICTIONARY_STRING_TABLE, text, size);
}

static void measure_string(struct otlp_writer *writer)
{
    if (writer->at == writer->profile->tables.strings.count)
        return next_part(writer);
    writer->scratch.length = 0;
    put_string(writer, &writer->scratch, (uint32_t)writer->at++);
    writer->strings_length += writer->scratch.length;
}

/* Of a message with its tag and length. */
static size_t length_within(struct otlp_writer *writer, uint32_t field, size_t length)
{
    writer->scratch.length = 0;
    protobuf_head(&writer->scratch, field, length);
    return writer->scratch.length + length;
}

static size_t profile_length(const struct otlp_writer *writer, unsigned column)
{
    return writer->heads[column].length + writer->samples_length[column];
}

static void put_scope(const struct otlp_writer *writer, struct json_text *out)
{
    size_t scope = protobuf_begin(out, OTLP_SCOPE_PROFILES_SCOPE);

    protobuf_string(out, OTLP_SCOPE_NAME, "isoscope");
    protobuf_string(out, OTLP_SCOPE_VERSION, writer->profile->version);
    protobuf_end(out, scope);
}

/* All up to the first profile. */
static void put_head(struct otlp_writer *writer)
{
    const struct json_text *resource = &writer->profile->resource;
    struct json_text *out = &writer->stream.carry, scope = { 0 };
    size_t length;

    put_scope(writer, &scope);
    length = scope.length;
    for (unsigned column = 0; column < writer->profile->columns->count; column++)
        if (!is_empty(writer, column))
            length +=
                length_within(writer, OTLP_SCOPE_PROFILES_PROFILES, profile_length(writer, column));
    protobuf_head(out, OTLP_REQUEST_RESOURCE_PROFILES,
                  length_within(writer, OTLP_RESOURCE_PROFILES_RESOURCE, resource->length) +
                      length_within(writer, OTLP_RESOURCE_PROFILES_SCOPE_PROFILES, length));
    protobuf_head(out, OTLP_RESOURCE_PROFILES_RESOURCE, resource->length);
    json_text_raw(out, resource->data, resource->length);
    protobuf_head(out, OTLP_RESOURCE_PROFILES_SCOPE_PROFILES, length);
    json_text_raw(out, scope.data, scope.length);
    writer->stream.failed |= scope.failed;
    json_text_free(&scope);
    next_part(writer);
}

static void next_column(struct otlp_writer *writer)
{
    writer->at = 0;
    if (++writer->column == writer->profile->columns->count)
        next_part(writer);
}

static void put_next_sample(struct otlp_writer *writer)
{
    struct json_text *out = &writer->stream.carry;
    unsigned column = column_at(writer, writer->column);

    if (is_empty(writer, column) || writer->at == pprof_samples_count(&writer->profile->samples))
        return next_column(writer);
    if (!writer->at) {
        protobuf_head(out, OTLP_SCOPE_PROFILES_PROFILES, profile_length(writer, column));
        json_text_raw(out, writer->heads[column].data, writer->heads[column].length);
    }
    put_sample(writer, out, (uint32_t)writer->at++, column);
}

static void put_dictionary(struct otlp_writer *writer)
{
    struct json_text *out = &writer->stream.carry;

    protobuf_head(out, OTLP_REQUEST_DICTIONARY,
                  writer->nothing.length + writer->profile->tables.bytes.length +
                      writer->strings_length);
    json_text_raw(out, writer->nothing.data, writer->nothing.length);
    next_part(writer);
}

static void put_next_piece(struct otlp_writer *writer)
{
    const struct json_text *bytes = &writer->profile->tables.bytes;
    size_t left = bytes->length - writer->at;

    if (!left)
        return next_part(writer);
    if (left > PIECE_BYTES)
        left = PIECE_BYTES;
    json_text_raw(&writer->stream.carry, bytes->data + writer->at, left);
    writer->at += left;
}

static void put_next_text(struct otlp_writer *writer)
{
    put_string(writer, &writer->stream.carry, (uint32_t)writer->at++);
    if (writer->at == writer->profile->tables.strings.count) /* the end comes with bytes */
        next_part(writer);
}

static bool has_failed(const struct otlp_writer *writer)
{
    bool failed = writer->scratch.failed || writer->nothing.failed || writer->stacks.failed ||
                  writer->profile->resource.failed || pprof_tables_failed(&writer->profile->tables);

    for (unsigned column = 0; column < COLUMNS_MAX; column++)
        failed |= writer->heads[column].failed;
    return failed;
}

static void compose(struct reply_stream *stream)
{
    struct otlp_writer *writer = (struct otlp_writer *)stream;

    switch (writer->part) {
    case PART_STACKS:
        take_stack(writer);
        break;
    case PART_STRINGS:
        measure_string(writer);
        break;
    case PART_HEAD:
        put_head(writer);
        break;
    case PART_SAMPLES:
        put_next_sample(writer);
        break;
    case PART_DICTIONARY:
        put_dictionary(writer);
        break;
    case PART_TABLES:
        put_next_piece(writer);
        break;
    case PART_TEXTS:
        put_next_text(writer);
        break;
    case PART_END:
        break;
    }
    stream->failed |= has_failed(writer);
}

static void free_writer(struct reply_stream *stream)
{
    struct otlp_writer *writer = (struct otlp_writer *)stream;

    for (unsigned column = 0; column < COLUMNS_MAX; column++)
        json_text_free(&writer->heads[column]);
    json_text_free(&writer->nothing);
    json_text_free(&writer->scratch);
    interned_free(&writer->stacks);
    free(writer->stack_of);
    pprof_profile_free(writer->profile);
    free(writer);
}

struct reply_stream *otlp_writer_new(struct pprof_profile *profile)
{
    static const struct reply_stream_kind kind = { compose, free_writer };
    struct otlp_writer *writer = calloc(1, sizeof(*writer));

    if (writer)
        writer->stack_of =
            calloc((size_t)pprof_samples_count(&profile->samples) + 1, sizeof(*writer->stack_of));
    if (!writer || !writer->stack_of || pprof_tables_failed(&profile->tables) ||
        pprof_samples_failed(&profile->samples)) {
        if (writer)
            free(writer->stack_of);
        free(writer);
        pprof_profile_free(profile);
        return NULL;
    }
    writer->stream.kind = &kind;
    writer->profile = profile;
    return &writer->stream;
}
