#include "piece_reader.h"

#include "../../include/isoscope/isoscope.h"
#include "../base/grow.h"
#include "../intake/processes.h"

#include <stdlib.h>
#include <string.h>

/* The piece before, of the same chunk; NULL: there is none. */
static const struct piece *before_of(const struct session_reader *reader, enum sample_kind kind)
{
    const struct chunk_building *building = &reader->chunks[kind];

    return building->begun ? &building->pieces[building->piece_count - 1].piece : NULL;
}

static void read_piece(struct session_reader *reader, struct entry *entry, enum sample_kind kind)
{
    struct piece piece = { .kind = kind };

    if (kind < SAMPLE_KINDS)
        piece_read(entry, before_of(reader, kind), &piece);
    piece_free(&reader->piece);
    reader->piece = piece;
    if (!entry->bad && piece.min_us + reader->archive->shift_us < 0)
        entry_fail(entry, "its times, aligned, are before 0");
    reader->piece_expected = true;
}

void piece_reader_piece(struct session_reader *reader, struct entry *entry)
{
    read_piece(reader, entry, SAMPLES_OF_TIME);
}

void piece_reader_piece_of_kind(struct session_reader *reader, struct entry *entry)
{
    read_piece(reader, entry, piece_kind(entry));
}

const char *piece_reader_block(const struct piece *piece)
{
    return piece->kind == SAMPLES_OF_TIME ? "PIEC" : "KPIE";
}

static void forget(struct chunk_building *building)
{
    free(building->outline.sources);
    free(building->states);
    free(building->pieces);
    *building = (struct chunk_building){ 0 };
}

void piece_reader_forget(struct session_reader *reader)
{
    for (int kind = 0; kind < SAMPLE_KINDS; kind++)
        forget(&reader->chunks[kind]);
}

/* The archive's next chunk; its pieces stand together. */
static int keep_chunk(struct session_archive *archive, const struct chunk_building *building,
                      enum sample_kind kind)
{
    uint32_t first = archive->piece_count;

    if (!GROW(archive->chunks, archive->chunk_count, archive->chunk_capacity))
        return -ISOSCOPE_NO_MEMORY;
    for (uint32_t i = 0; i < building->piece_count; i++) {
        if (!GROW(archive->pieces, archive->piece_count, archive->piece_capacity))
            return -ISOSCOPE_NO_MEMORY;
        archive->pieces[archive->piece_count++] = building->pieces[i];
    }
    archive->chunks[archive->chunk_count++] =
        (struct archived_chunk){ first, building->piece_count, .apart = kind != SAMPLES_OF_TIME };
    return 0;
}

static int end_chunk(struct session_reader *reader, enum sample_kind kind)
{
    struct session_archive *archive = reader->archive;
    struct chunk_building *building = &reader->chunks[kind];
    int error = building->begun ? keep_chunk(archive, building, kind) : 0;

    if (error || !building->begun)
        return error;
    building->outline.archive = &archive->chunk_archive;
    building->outline.archive_number = archive->chunk_count - 1;
    building->outline.base_us = building->outline.min_us;
    error =
        store_add_archived(reader->profile->stores.of[kind], &building->outline, building->states);
    building->outline.sources = NULL; /* taken over */
    forget(building);
    return error;
}

int piece_reader_end(struct session_reader *reader)
{
    int error = 0;

    for (int kind = 0; kind < SAMPLE_KINDS && !error; kind++)
        error = end_chunk(reader, (enum sample_kind)kind);
    return error;
}

static int begin_chunk(struct session_reader *reader, enum sample_kind kind)
{
    int error = end_chunk(reader, kind);

    if (error)
        return error;
    reader->chunks[kind] = (struct chunk_building){
        .outline = { .min_us = INT64_MAX, .max_us = INT64_MIN, .node_count = 1, .frame_count = 1 },
        .begun = true,
    };
    return 0;
}

/* The thread in the store of the kind; NULL: no memory. */
static struct owner_thread *thread_of(struct session_reader *reader, struct reader_thread *thread,
                                      enum sample_kind kind)
{
    const struct owner_thread *known = thread->of[SAMPLES_OF_TIME];

    if (!thread->of[kind]) {
        struct owner *owner =
            processes_owner(reader->profile->processes, known->owner->process_id, kind);

        if (!owner || owner_thread_new(&thread->of[kind], owner, known->tid, known->name) < 0)
            return NULL;
    }
    return thread->of[kind];
}

/* Room for one more source. */
static bool reserve_source(struct chunk_building *building)
{
    struct chunk *outline = &building->outline;

    if (!GROW(outline->sources, outline->source_count, building->source_capacity))
        return false;
    while (building->state_capacity < building->source_capacity) {
        uint32_t *states = reallocarray(building->states, building->source_capacity,
                                        OWNER_STATES * sizeof(*states));

        if (!states)
            return false;
        building->states = states;
        building->state_capacity = building->source_capacity;
    }
    return true;
}

static int add_source(struct session_reader *reader, const struct piece_source *source,
                      uint64_t position)
{
    enum sample_kind kind = reader->piece.kind;
    struct chunk_building *building = &reader->chunks[kind];
    struct chunk *outline = &building->outline;
    uint32_t place = map64_find(&reader->threads, source->thread);
    uint32_t tag = map64_find(&reader->archive->numbers.names, source->tag);
    uint32_t number = outline->source_count;
    struct owner_thread *thread;

    if (!place || (source->tag && !tag))
        return session_problem(reader->problem, position,
                               "block '%s': thread %u or tag %u is not there",
                               piece_reader_block(&reader->piece), source->thread, source->tag);
    thread = thread_of(reader, &reader->thread_list[place - 1], kind);
    if (!thread || !reserve_source(building))
        return -ISOSCOPE_NO_MEMORY;
    memset(&building->states[number * OWNER_STATES], 0, OWNER_STATES * sizeof(uint32_t));
    outline->sources[number] =
        (struct chunk_source){ .thread = thread, .tag = tag, .next = (uint16_t)number };
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

static int keep_piece(const struct session_reader *reader, struct chunk_building *building,
                      const struct block_place *place)
{
    struct archived_piece *kept;

    if (!GROW(building->pieces, building->piece_count, building->piece_capacity))
        return -ISOSCOPE_NO_MEMORY;
    kept = &building->pieces[building->piece_count++];
    *kept = (struct archived_piece){ .piece = reader->piece,
                                     .place = *place,
                                     .sources = building->outline.source_count };
    kept->piece.sources = NULL;
    kept->piece.counts = NULL;
    return 0;
}

static int add_piece(struct session_reader *reader, const struct block_place *place)
{
    const struct piece *piece = &reader->piece;
    struct chunk_building *building = &reader->chunks[piece->kind];
    const struct chunk *outline = &building->outline;
    int error = piece_begins(piece) ? begin_chunk(reader, piece->kind) : 0;

    for (uint32_t i = 0; i < piece->source_count && !error; i++)
        error = add_source(reader, &piece->sources[i], place->position);
    if (!error)
        error = keep_piece(reader, building, place);
    if (error)
        return error;
    count_piece(building, piece, reader->archive->shift_us);
    if (outline->max_us - outline->min_us > UINT32_MAX)
        return session_problem(reader->problem, place->position,
                               "block '%s': its chunk's times are too far apart",
                               piece_reader_block(piece));
    if (piece->kind == SAMPLES_OF_TIME)
        reader->samples += piece->samples;
    if (outline->max_us > reader->end_us)
        reader->end_us = outline->max_us;
    return 0;
}

int piece_reader_samples(struct session_reader *reader, const struct block_place *place)
{
    const struct piece *piece = &reader->piece;
    bool of_time = !strcmp(place->head.type, "SMPL");

    if (!reader->piece_expected || of_time != (piece->kind == SAMPLES_OF_TIME))
        return session_problem(reader->problem, place->position, "block '%s' has no '%s' before it",
                               place->head.type, of_time ? "PIEC" : "KPIE");
    reader->piece_expected = false;
    return piece->kind < SAMPLE_KINDS ? add_piece(reader, place) : 0;
}
