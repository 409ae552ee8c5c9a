#include "session_writer.h"

#include "../../include/isoscope/isoscope.h"
#include "../base/grow.h"
#include "events_writer.h"
#include "facts_writer.h"
#include "format/blocks.h"
#include "format/sample_columns.h"
#include "loops_writer.h"
#include "names_writer.h"
#include "stalls_writer.h"

#include <stdlib.h>
#include <string.h>

/* How much of the store has been told. */
struct cursor {
    uint64_t chunk;
    uint32_t sample;   /* as the chunk counts */
    uint64_t sequence; /* of the next one to come */
    bool begun;        /* the file has something of the chunk, up to: */
    uint32_t told_samples, nodes, frames, sources;
};

struct session_writer {
    struct table_writer tables;
    struct cursor cursor;
    struct events_writer events;
    struct stalls_writer stalls;
    struct loops_writer loops;
    struct columns columns;
    struct piece piece;
    struct stack_writing stacks;    /* of the chunk */
    uint32_t *numbers;              /* of the piece's samples */
    uint64_t samples, file_samples; /* of all files, and of this one */
    bool recording;
};

int session_writer_new(struct session_writer **out, struct profile *profile,
                       const struct session_options *options, bool recording)
{
    struct session_writer *writer = calloc(1, sizeof(*writer));

    if (!writer || table_writer_open(&writer->tables, profile, options, recording) < 0 ||
        !(writer->numbers = calloc(CHUNK_ENTRIES_MAX, sizeof(*writer->numbers)))) {
        session_writer_free(writer);
        return -ISOSCOPE_NO_MEMORY;
    }
    writer->recording = recording;
    *out = writer;
    return 0;
}

void session_writer_free(struct session_writer *writer)
{
    if (!writer)
        return;
    table_writer_close(&writer->tables);
    events_writer_free(&writer->events);
    columns_free(&writer->columns);
    piece_free(&writer->piece);
    stack_writing_free(&writer->stacks);
    free(writer->numbers);
    free(writer);
}

int session_writer_begin(struct session_writer *writer, int64_t start_us, struct bytes *out)
{
    writer->cursor.begun = false;
    writer->file_samples = 0;
    loops_writer_begin(&writer->loops);
    packer_restart(writer->tables.packer, BLOCK_FRAME_CHUNK);
    session_head_put(out);
    return table_writer_begin(&writer->tables, start_us, out);
}

/* Where the view goes on. */
static void move_cursor(struct session_writer *writer, const struct store_view *view)
{
    struct cursor *cursor = &writer->cursor;

    if (cursor->chunk != view->chunk->serial) {
        cursor->chunk = view->chunk->serial;
        cursor->sample = 0;
        cursor->begun = false;
        /* Of a save there is no cursor: what is not visible is not missed. */
        if (writer->recording && view->chunk->first_sequence > cursor->sequence)
            writer->tables.missed += view->chunk->first_sequence - cursor->sequence;
    }
    if (cursor->begun)
        return;
    cursor->told_samples = cursor->sources = 0;
    cursor->nodes = cursor->frames = 1;
}

/* Which samples are told, and what they come to by source. */
static bool count_samples(struct session_writer *writer, const struct store_view *view)
{
    struct piece *piece = &writer->piece;
    uint32_t *place = calloc((size_t)view->source_count + 1, sizeof(*place));
    const struct chunk *chunk = view->chunk;

    for (uint32_t i = writer->cursor.sample; place && i < view->sample_count; i++) {
        const struct chunk_sample *sample = &chunk->samples[i];
        int64_t time_us = chunk_sample_us(chunk, i);
        struct piece_count *count;

        if (i < view->sources[sample->source].first_visible)
            continue;
        if (!place[sample->source]) {
            if (!GROW(piece->counts, piece->count_count, piece->count_capacity))
                break;
            piece->counts[piece->count_count] = (struct piece_count){ .source = sample->source };
            place[sample->source] = ++piece->count_count;
        }
        count = &piece->counts[place[sample->source] - 1];
        count->states[sample->state]++;
        count->last = piece->first_sample + piece->samples;
        piece->min_us = !piece->samples || time_us < piece->min_us ? time_us : piece->min_us;
        piece->max_us = !piece->samples || time_us > piece->max_us ? time_us : piece->max_us;
        writer->numbers[piece->samples++] = i;
    }
    free(place);
    return place;
}

/* False: no memory. */
static bool list_sources(struct session_writer *writer, const struct store_view *view)
{
    struct piece *piece = &writer->piece;

    for (uint32_t i = piece->first_source; i < view->source_count; i++) {
        const struct chunk_source *source = &view->chunk->sources[i];
        uint32_t thread =
            table_writer_thread(&writer->tables, source->thread, view->sources[i].name);

        if (!thread || !GROW(piece->sources, piece->source_count, piece->source_capacity))
            return false;
        table_writer_name(&writer->tables, source->tag);
        piece->sources[piece->source_count++] = (struct piece_source){ thread, source->tag };
    }
    return true;
}

static bool fill_piece(struct session_writer *writer, const struct store_view *view)
{
    const struct cursor *cursor = &writer->cursor;
    struct piece *piece = &writer->piece;

    piece->source_count = piece->count_count = piece->samples = 0;
    piece->first_sample = cursor->told_samples;
    piece->first_node = cursor->nodes;
    piece->nodes = view->node_count - cursor->nodes;
    piece->first_frame = cursor->frames;
    piece->frames = view->frame_count - cursor->frames;
    piece->first_source = cursor->sources;
    return count_samples(writer, view) && list_sources(writer, view);
}

static int write_piece(struct session_writer *writer, const struct store_view *view,
                       struct bytes *out)
{
    struct table_writer *tables = &writer->tables;
    int error;

    for (uint32_t i = 0; i < writer->piece.frames; i++)
        table_writer_frame(tables, view->chunk->frames[writer->piece.first_frame + i]);
    if (!writer->cursor.begun) {
        packer_restart(tables->packer, BLOCK_FRAME_CHUNK);
        stack_writing_free(&writer->stacks);
    }
    sample_columns_measure(view, writer->numbers, &writer->piece);
    if ((error = table_writer_before_samples(tables, out)) < 0 ||
        (error = table_writer_put(tables, "PIEC", piece_write(&writer->piece), out)) < 0)
        return error;
    bytes_clear(&tables->content);
    sample_columns_write(view, &writer->piece, writer->numbers, &writer->stacks, &writer->columns,
                         &tables->content);
    return packer_block(tables->packer, out, "SMPL", BLOCK_FRAME_CHUNK, &tables->content);
}

/* What was written is in the file, or lost to it: one way or the other it is passed. */
static void pass(struct session_writer *writer, const struct store_view *view, bool written)
{
    struct cursor *cursor = &writer->cursor;

    cursor->sample = view->sample_count;
    cursor->sequence = view->chunk->first_sequence + view->sample_count;
    if (!writer->piece.samples)
        return;
    writer->samples += written ? writer->piece.samples : 0;
    writer->file_samples += written ? writer->piece.samples : 0;
    writer->tables.missed += written ? 0 : writer->piece.samples;
    cursor->begun = written;
    cursor->told_samples += writer->piece.samples;
    cursor->nodes = view->node_count;
    cursor->frames = view->frame_count;
    cursor->sources = view->source_count;
}

static int write_view(struct session_writer *writer, const struct store_view *view,
                      struct bytes *out)
{
    size_t before = out->count;
    int error;

    move_cursor(writer, view);
    if (store_load(view) < 0)
        return -ISOSCOPE_DAMAGED;
    error = fill_piece(writer, view) ? 0 : -ISOSCOPE_NO_MEMORY;
    if (!error && writer->piece.samples)
        error = write_piece(writer, view, out);
    if (error)
        out->count = before;
    pass(writer, view, !error);
    return error;
}

/* The first view with something new; NULL: there is none. */
static const struct store_view *first_new(const struct cursor *cursor,
                                          const struct store_view *views, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (views[i].chunk->serial != cursor->chunk || views[i].sample_count > cursor->sample)
            return &views[i];
    return NULL;
}

int session_writer_samples(struct session_writer *writer, struct bytes *out)
{
    struct store_ask ask = STORE_ASK_ALL;
    const struct store_view *view;
    struct store_view *views;
    struct store_changes changes;
    uint32_t count;
    int error;

    ask.serial_min = writer->cursor.chunk;
    error = store_views(writer->tables.profile->stores.of[SAMPLES_OF_TIME], &ask, &views, &count,
                        &changes);
    if (error)
        return error;
    table_writer_renames(&writer->tables, views, count, changes.renames);
    view = first_new(&writer->cursor, views, count);
    error = view ? write_view(writer, view, out) : 0;
    store_views_free(views, count);
    if (error)
        return error;
    return view != NULL;
}

int session_writer_events(struct session_writer *writer, struct bytes *out)
{
    return events_writer_put(&writer->events, &writer->tables, out);
}

int session_writer_stalls(struct session_writer *writer, struct bytes *out)
{
    return stalls_writer_put(&writer->stalls, &writer->tables, out);
}

int session_writer_tables(struct session_writer *writer, int64_t now_us, struct bytes *out)
{
    int error = table_writer_tables(&writer->tables, now_us, out);

    if (!error)
        error = loops_writer_put(&writer->loops, &writer->tables, now_us, out);
    return error ? error : facts_writer_memory(&writer->tables, now_us, out);
}

int session_writer_names(struct session_writer *writer, struct bytes *out, uint32_t *waits)
{
    int error = names_writer_put(&writer->tables, out, waits);

    return error || !writer->tables.options->sources ? error
                                                     : facts_writer_sources(&writer->tables, out);
}

int session_writer_end(struct session_writer *writer, int64_t now_us, struct bytes *out)
{
    int error = table_writer_last_tables(&writer->tables, now_us, out);

    if (!error)
        error = events_writer_open(&writer->events, &writer->tables, now_us, out);
    if (!error)
        error = stalls_writer_ongoing(&writer->tables, out);
    if (!error)
        error = loops_writer_put(&writer->loops, &writer->tables, INT64_MAX, out);
    if (error)
        return error;
    return table_writer_put(&writer->tables, "ENDS",
                            json_pack("{s:I, s:I}", "endUs", (json_int_t)now_us, "samples",
                                      (json_int_t)writer->file_samples),
                            out);
}

uint64_t session_writer_count(const struct session_writer *writer)
{
    return writer->samples;
}

uint64_t session_writer_event_count(const struct session_writer *writer)
{
    return writer->events.events;
}

uint64_t session_writer_missed(const struct session_writer *writer)
{
    return writer->tables.missed;
}
