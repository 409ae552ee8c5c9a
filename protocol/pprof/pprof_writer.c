#include "pprof_writer.h"

#include "pprof_fields.h"
#include "../text/protobuf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { PIECE_BYTES = 16 * 1024 };

enum part { PART_HEAD, PART_SAMPLES, PART_TABLES, PART_STRINGS, PART_END };

struct pprof_writer {
    struct reply_stream stream; /* the first: this is one */
    struct pprof_profile *profile;
    enum part part;
    size_t at; /* the next sample, byte of the tables, or string */
};

void pprof_comment(struct pprof_profile *profile, const char *format, ...)
{
    va_list words;

    if (profile->comment_count == PPROF_COMMENTS_MAX)
        return;
    va_start(words, format);
    vsnprintf(profile->comments[profile->comment_count++], PPROF_COMMENT_BYTES, format, words);
    va_end(words);
}

void pprof_profile_free(struct pprof_profile *profile)
{
    if (!profile)
        return;
    pprof_tables_free(&profile->tables);
    pprof_samples_free(&profile->samples);
    json_text_free(&profile->resource);
    free(profile);
}

static void put_type(struct pprof_profile *profile, struct json_text *out, uint32_t field,
                     const struct pprof_type *type)
{
    size_t message = protobuf_begin(out, field);

    protobuf_uint(out, VALUE_TYPE_TYPE, pprof_string(&profile->tables, type->type));
    protobuf_uint(out, VALUE_TYPE_UNIT, pprof_string(&profile->tables, type->unit));
    protobuf_end(out, message);
}

/* All strings are known behind it. */
static void put_head(struct pprof_profile *profile, struct json_text *out)
{
    const struct pprof_columns *columns = profile->columns;

    for (unsigned i = 0; i < columns->count; i++)
        put_type(profile, out, PROFILE_SAMPLE_TYPE, &columns->types[i]);
    protobuf_uint(out, PROFILE_TIME_NANOS, profile->time_ns);
    protobuf_uint(out, PROFILE_DURATION_NANOS, profile->duration_ns);
    put_type(profile, out, PROFILE_PERIOD_TYPE, &columns->period);
    protobuf_uint(out, PROFILE_PERIOD, profile->period);
    for (unsigned i = 0; i < profile->comment_count; i++)
        protobuf_uint(out, PROFILE_COMMENT, pprof_string(&profile->tables, profile->comments[i]));
    protobuf_uint(out, PROFILE_DEFAULT_SAMPLE_TYPE,
                  pprof_string(&profile->tables, profile->default_type));
}

static void next_part(struct pprof_writer *writer)
{
    writer->part++;
    writer->at = 0;
    writer->stream.done = writer->part == PART_END;
}

static void put_next_sample(struct pprof_writer *writer)
{
    struct pprof_samples *samples = &writer->profile->samples;

    if (writer->at == pprof_samples_count(samples))
        return next_part(writer);
    pprof_samples_put(samples, &writer->stream.carry, (uint32_t)writer->at++,
                      writer->profile->columns->count / 2);
}

static void put_next_piece(struct pprof_writer *writer)
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

static void put_next_string(struct pprof_writer *writer)
{
    const struct interned *strings = &writer->profile->tables.strings;
    size_t size;
    const char *text;

    text = interned_text(strings, (uint32_t)writer->at++, &size);
    protobuf_text(&writer->stream.carry, PROFILE_STRING_TABLE, text, size);
    if (writer->at == strings->count) /* there is one at least; and the end comes with bytes */
        next_part(writer);
}

static void compose(struct reply_stream *stream)
{
    struct pprof_writer *writer = (struct pprof_writer *)stream;

    switch (writer->part) {
    case PART_HEAD:
        put_head(writer->profile, &stream->carry);
        stream->failed = pprof_tables_failed(&writer->profile->tables);
        next_part(writer);
        break;
    case PART_SAMPLES:
        put_next_sample(writer);
        break;
    case PART_TABLES:
        put_next_piece(writer);
        break;
    case PART_STRINGS:
        put_next_string(writer);
        break;
    case PART_END:
        break;
    }
}

static void free_writer(struct reply_stream *stream)
{
    pprof_profile_free(((struct pprof_writer *)stream)->profile);
    free(stream);
}

struct reply_stream *pprof_writer_new(struct pprof_profile *profile)
{
    static const struct reply_stream_kind kind = { compose, free_writer };
    struct pprof_writer *writer = calloc(1, sizeof(*writer));

    if (!writer || pprof_tables_failed(&profile->tables) ||
        pprof_samples_failed(&profile->samples)) {
        free(writer);
        pprof_profile_free(profile);
        return NULL;
    }
    writer->stream.kind = &kind;
    writer->profile = profile;
    return &writer->stream;
}
