#include "piece_reader.h"

#include "../../include/isoscope/isoscope.h"
#include "../base/grow.h"

#include <stdlib.h>
#include <string.h>

void piece_reader_piece(struct session_reader *reader, struct entry *entry)
{
    struct piece piece = { 0 };

    piece_read(entry, reader->chunk.begun ? &reader->piece : NULL, &piece);
    piece_free(&reader->piece);
    reader->piece = piece;
    if (!entry->bad && piece.min_us + reader->archive->shift_us < 0)
        entry_fail(entry, "its times, aligned, are before 0");
    reader->piece_expected = true;
}

void piece_reader_forget(struct session_reader *reader)
{
    free(reader->chunk.outline.sources);
    free(reader->chunk.states);
    reader->chunk = (struct chunk_building){ 0 };
}

int piece_reader_end(struct session_reader *reader)
{
    struct session_archive *archive = reader->archive;
    struct chunk_building *building = &reader->chunk;
    uint32_t number = archive->chunk_count;
    int error;

    if (!building->begun)
        return 0;
    if (!GROW(archive->chunks, archive->chunk_count, archive->chunk_capacity))
        return -ISOSCOPE_NO_MEMORY;
    archive->chunks[archive->chunk_count++] =
        (struct archived_chunk){ building->first_piece,
                                 archive->piece_count - building->first_piece };
    building->outline.archive = &archive->chunk_archive;
    building->outline.archive_number = number;
    building->outline.base_us = building->outline.min_us;
    error = store_add_archived(reader->profile->stores.of[SAMPLES_OF_TIME], &building->outline,
                               building->states);
    building->outline.sources = NULL; /* taken over */
    piece_reader_forget(reader);
    return error;
}

static int begin_chunk(struct session_reader *reader)
{
    int error = piece_reader_end(reader);

    if (error)
        return error;
    reader->chunk = (struct chunk_building){
        .outline = { .min_us = INT64_MAX, .max_us = INT64_MIN, .node_count = 1, .frame_count = 1 },
        .first_piece = reader->archive->piece_count,
        .begun = true,
    };
    return 0;
}

static int add_source(struct session_reader *reader, const struct piece_source *source,
                      uint64_t position)
{
    struct chunk_building *building = &reader->chunk;
    struct chunk *outline = &building->outline;
    uint32_t thread = map64_find(&reader->threads, source->thread);
    uint32_t tag = map64_find(&reader->archive->numbers.names, source->tag);
    uint32_t number = outline->source_count;

    if (!thread || (source->tag && !tag))
        return session_problem(reader->problem, position,
                               "block 'PIEC': thread %u or tag %u is not there", source->thread,
                               source->tag);
    if (!GROW(outline->sources, number, building->source_capacity))
        return -ISOSCOPE_NO_MEMORY;
    while (building->state_capacity < building->source_capacity) {
        uint32_t *states = reallocarray(building->states, building->source_capacity,
                                        OWNER_STATES * sizeof(*states));

        if (!states)
            return -ISOSCOPE_NO_MEMORY;
        building->states = states;
        building->state_capacity = building->source_capacity;
    }
    memset(&building->states[number * OWNER_STATES], 0, OWNER_STATES * sizeof(uint32_t));
    outline->sources[number] = (struct chunk_source){
        .thread = reader->thread_list[thread - 1].thread, .tag = tag, .next = (uint16_t)number
    };
    outline->source_count++;
    return 0;
}

static void count_piece(struct chunk_building *building, const struct piece *piece,
                        int64_t shift_us)
{
    struct chunk *outline = &building->outline;

    for (uint32_t i = 0; i < piece->count_count; i++) {
        const struct piece_count *count = &piece->counts[i];

        outline->sources[count->source].last = (uint16_t)count->last;
        for (int state = 0; state < OWNER_STATES; state++)
            building->states[count->source * OWNER_STATES + state] += count->states[state];
    }
    outline->sample_count += piece->samples;
    outline->node_count += piece->nodes;
    outline->frame_count += piece->frames;
    if (piece->min_us + shift_us < outline->min_us)
        outline->min_us = piece->min_us + shift_us;
    if (piece->max_us + shift_us > outline->max_us)
        outline->max_us = piece->max_us + shift_us;
}

static int keep_piece(struct session_reader *reader, const struct block_place *place)
{
    struct session_archive *archive = reader->archive;
    struct archived_piece *kept;

    if (!GROW(archive->pieces, archive->piece_count, archive->piece_capacity))
        return -ISOSCOPE_NO_MEMORY;
    kept = &archive->pieces[archive->piece_count++];
    *kept = (struct archived_piece){ .piece = reader->piece,
                                     .place = *place,
                                     .sources = reader->chunk.outline.source_count };
    kept->piece.sources = NULL;
    kept->piece.counts = NULL;
    return 0;
}

int piece_reader_samples(struct session_reader *reader, const struct block_place *place)
{
    const struct piece *piece = &reader->piece;
    struct chunk *outline = &reader->chunk.outline;
    int error = 0;

    if (!reader->piece_expected)
        return session_problem(reader->problem, place->position,
                               "block 'SMPL' has no 'PIEC' before it");
    reader->piece_expected = false;
    if (piece_begins(piece))
        error = begin_chunk(reader);
    for (uint32_t i = 0; i < piece->source_count && !error; i++)
        error = add_source(reader, &piece->sources[i], place->position);
    if (!error)
        error = keep_piece(reader, place);
    if (error)
        return error;
    count_piece(&reader->chunk, piece, reader->archive->shift_us);
    if (outline->max_us - outline->min_us > UINT32_MAX)
        return session_problem(reader->problem, place->position,
                               "block 'PIEC': its chunk's times are too far apart");
    reader->samples += piece->samples;
    if (outline->max_us > reader->end_us)
        reader->end_us = outline->max_us;
    return 0;
}
