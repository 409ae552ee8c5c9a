#include "samples_writer.h"

#include "../../include/isoscope/isoscope.h"
#include "../base/grow.h"

#include <stdlib.h>

int samples_writer_open(struct samples_writer *writer, enum sample_kind kind)
{
    *writer = (struct samples_writer){ .kind = kind };
    writer->numbers = calloc(CHUNK_ENTRIES_MAX, sizeof(*writer->numbers));
    return writer->numbers ? 0 : -ISOSCOPE_NO_MEMORY;
}

void samples_writer_close(struct samples_writer *writer)
{
    columns_free(&writer->columns);
    piece_free(&writer->piece);
    stack_writing_free(&writer->stacks);
    free(writer->numbers);
}

void samples_writer_begin(struct samples_writer *writer)
{
    writer->cursor.begun = false;
    writer->file_samples = 0;
}

void samples_writer_again(struct samples_writer *writer)
{
    writer->cursor = (struct samples_cursor){ 0 };
}

/* Of a save there is no cursor: what is not visible is not missed. Nor is what lived. */
static bool misses(const struct samples_writer *writer, const struct table_writer *tables)
{
    return tables->recording && writer->kind != SAMPLES_OF_LIVE;
}

/* Where the view goes on. */
static void move_cursor(struct samples_writer *writer, struct table_writer *tables,
                        const struct store_view *view)
{
    struct samples_cursor *cursor = &writer->cursor;

    if (cursor->chunk != view->chunk->serial) {
        cursor->chunk = view->chunk->serial;
        cursor->sample = 0;
        cursor->begun = false;
        if (misses(writer, tables) && view->chunk->first_sequence > cursor->sequence)
            tables->missed += view->chunk->first_sequence - cursor->sequence;
    }
    if (cursor->begun)
        return;
    cursor->told_samples = cursor->sources = 0;
    cursor->nodes = cursor->frames = 1;
}

/* Which samples are told, and what they come to by source. */
static bool count_samples(struct samples_writer *writer, const struct store_view *view)
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
static bool list_sources(struct samples_writer *writer, struct table_writer *tables,
                         const struct store_view *view)
{
    struct piece *piece = &writer->piece;

    for (uint32_t i = piece->first_source; i < view->source_count; i++) {
        const struct chunk_source *source = &view->chunk->sources[i];
        uint32_t thread = table_writer_thread(tables, source->thread, view->sources[i].name);

        if (!thread || !GROW(piece->sources, piece->source_count, piece->source_capacity))
            return false;
        table_writer_name(tables, source->tag);
        piece->sources[piece->source_count++] = (struct piece_source){ thread, source->tag };
    }
    return true;
}

static bool fill_piece(struct samples_writer *writer, struct table_writer *tables,
                       const struct store_view *view)
{
    const struct samples_cursor *cursor = &writer->cursor;
    struct piece *piece = &writer->piece;

    piece->kind = writer->kind;
    piece->source_count = piece->count_count = piece->samples = 0;
    piece->first_sample = cursor->told_samples;
    piece->first_node = cursor->nodes;
    piece->nodes = view->node_count - cursor->nodes;
    piece->first_frame = cursor->frames;
    piece->frames = view->frame_count - cursor->frames;
    piece->first_source = cursor->sources;
    return count_samples(writer, view) && list_sources(writer, tables, view);
}

static int put_outline(const struct samples_writer *writer, struct table_writer *tables,
                       struct bytes *out)
{
    json_t *outline = piece_write(&writer->piece);

    if (writer->kind == SAMPLES_OF_TIME)
        return table_writer_put(tables, "PIEC", outline, out);
    bytes_clear(&tables->content);
    entry_dump(outline, &tables->content);
    return packer_block(tables->packer, out, "KPIE", BLOCK_FRAME_OWN, &tables->content);
}

static int write_piece(struct samples_writer *writer, struct table_writer *tables,
                       const struct store_view *view, struct bytes *out)
{
    bool is_time = writer->kind == SAMPLES_OF_TIME;
    int error;

    for (uint32_t i = 0; i < writer->piece.frames; i++)
        table_writer_frame(tables, view->chunk->frames[writer->piece.first_frame + i]);
    if (!writer->cursor.begun)
        stack_writing_free(&writer->stacks);
    if (!writer->cursor.begun && is_time)
        packer_restart(tables->packer, BLOCK_FRAME_CHUNK);
    sample_columns_measure(view, writer->numbers, &writer->piece);
    if ((error = table_writer_before_samples(tables, out)) < 0 ||
        (error = put_outline(writer, tables, out)) < 0)
        return error;
    bytes_clear(&tables->content);
    sample_columns_write(view, &writer->piece, writer->numbers, &writer->stacks, &writer->columns,
                         &tables->content);
    return packer_block(tables->packer, out, is_time ? "SMPL" : "KSMP",
                        is_time ? BLOCK_FRAME_CHUNK : BLOCK_FRAME_OWN, &tables->content);
}

/* What was written is in the file, or lost to it: one way or the other it is passed. */
static void pass(struct samples_writer *writer, struct table_writer *tables,
                 const struct store_view *view, bool written)
{
    struct samples_cursor *cursor = &writer->cursor;

    cursor->sample = view->sample_count;
    cursor->sequence = view->chunk->first_sequence + view->sample_count;
    if (!writer->piece.samples)
        return;
    writer->samples += written ? writer->piece.samples : 0;
    writer->file_samples += written ? writer->piece.samples : 0;
    tables->missed += written ? 0 : writer->piece.samples;
    cursor->begun = written;
    cursor->told_samples += writer->piece.samples;
    cursor->nodes = view->node_count;
    cursor->frames = view->frame_count;
    cursor->sources = view->source_count;
}

static int write_view(struct samples_writer *writer, struct table_writer *tables,
                      const struct store_view *view, struct bytes *out)
{
    size_t before = out->count;
    int error;

    move_cursor(writer, tables, view);
    if (store_load(view) < 0)
        return -ISOSCOPE_DAMAGED;
    error = fill_piece(writer, tables, view) ? 0 : -ISOSCOPE_NO_MEMORY;
    if (!error && writer->piece.samples)
        error = write_piece(writer, tables, view, out);
    if (error)
        out->count = before;
    pass(writer, tables, view, !error);
    return error;
}

/* The first view with something new; NULL: there is none. */
static const struct store_view *first_new(const struct samples_cursor *cursor,
                                          const struct store_view *views, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (views[i].chunk->serial != cursor->chunk || views[i].sample_count > cursor->sample)
            return &views[i];
    return NULL;
}

int samples_writer_put(struct samples_writer *writer, struct table_writer *tables,
                       struct bytes *out)
{
    struct store_ask ask = STORE_ASK_ALL;
    const struct store_view *view;
    struct store_view *views;
    struct store_changes changes;
    uint32_t count;
    int error;

    ask.serial_min = writer->cursor.chunk;
    error = store_views(tables->profile->stores.of[writer->kind], &ask, &views, &count, &changes);
    if (error)
        return error;
    if (writer->renames != changes.renames)
        table_writer_renames(tables, views, count);
    writer->renames = changes.renames;
    view = first_new(&writer->cursor, views, count);
    error = view ? write_view(writer, tables, view, out) : 0;
    store_views_free(views, count);
    if (error)
        return error;
    return view != NULL;
}
