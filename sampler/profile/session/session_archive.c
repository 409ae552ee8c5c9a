#include "session_archive.h"

#include "../../include/isoscope/isoscope.h"

#include <stdlib.h>

static const char *block_of(const struct archived_piece *piece)
{
    return piece->piece.kind == SAMPLES_OF_TIME ? "SMPL" : "KSMP";
}

/* What came before a piece in its frame has been read. */
static int load_piece(struct session_archive *archive, const struct archived_piece *piece,
                      struct stack_reading *stacks, struct chunk *chunk,
                      struct saved_problem *problem)
{
    const struct block_place *place = &piece->place;
    const char *reason;
    int error = session_file_read(&archive->file, place, &archive->stored, problem);

    if (error)
        return error;
    error = unpacker_read(archive->unpacker, archive->stored.data, archive->stored.count,
                          place->head.unpacked, &archive->content);
    if (error == -ISOSCOPE_DAMAGED)
        return session_problem(problem, place->position, "block '%s' cannot be unpacked",
                               block_of(piece));
    if (error)
        return error;
    reason = sample_columns_read(&archive->content, &piece->piece, piece->sources,
                                 &archive->numbers, archive->shift_us, stacks, chunk);
    return reason ? session_problem(problem, place->position, "block '%s': %s", block_of(piece),
                                    reason)
                  : 0;
}

static void keep_damage(struct session_archive *archive, const struct saved_problem *problem)
{
    pthread_mutex_lock(&archive->lock);
    if (!archive->damaged)
        archive->damage = *problem;
    archive->damaged = true;
    pthread_mutex_unlock(&archive->lock);
}

static int load_pieces(struct session_archive *archive, const struct archived_chunk *which,
                       struct chunk *chunk, struct saved_problem *problem)
{
    struct stack_reading stacks = { 0 };
    int error = 0;

    unpacker_restart(archive->unpacker);
    for (uint32_t i = which->first; i < which->first + which->count && !error; i++) {
        if (which->apart)
            unpacker_restart(archive->unpacker);
        error = load_piece(archive, &archive->pieces[i], &stacks, chunk, problem);
    }
    stack_reading_free(&stacks);
    return error;
}

static int load(void *context, uint32_t number, struct chunk *chunk)
{
    struct session_archive *archive = context;
    struct saved_problem problem = { 0 };
    int error;

    pthread_mutex_lock(&archive->loading);
    error = load_pieces(archive, &archive->chunks[number], chunk, &problem);
    pthread_mutex_unlock(&archive->loading);
    if (error == -ISOSCOPE_DAMAGED)
        keep_damage(archive, &problem);
    return error;
}

/* A block of events is a frame of its own. */
static int read_events(struct session_archive *archive, const struct archived_events *events,
                       struct event_chunk *chunk, struct saved_problem *problem)
{
    const struct block_place *place = &events->place;
    const char *reason;
    int error = session_file_read(&archive->file, place, &archive->event_stored, problem);

    if (error)
        return error;
    unpacker_restart(archive->event_unpacker);
    error =
        unpacker_read(archive->event_unpacker, archive->event_stored.data,
                      archive->event_stored.count, place->head.unpacked, &archive->event_content);
    if (error == -ISOSCOPE_DAMAGED)
        return session_problem(problem, place->position, "block 'EVNT' cannot be unpacked");
    if (error)
        return error;
    reason = event_columns_load(&archive->event_content, &events->outline, archive->shift_us * 1000,
                                chunk);
    return reason ? session_problem(problem, place->position, "block 'EVNT': %s", reason) : 0;
}

static int load_events(void *context, uint32_t number, struct event_chunk *chunk)
{
    struct session_archive *archive = context;
    struct saved_problem problem = { 0 };
    int error = read_events(archive, &archive->events[number], chunk, &problem);

    if (error == -ISOSCOPE_DAMAGED)
        keep_damage(archive, &problem);
    return error;
}

int session_archive_new(struct session_archive *archive)
{
    int error;

    *archive = (struct session_archive){ .file = { .fd = -1 },
                                         .chunk_archive = { load, archive },
                                         .event_archive = { load_events, archive } };
    pthread_mutex_init(&archive->lock, NULL);
    pthread_mutex_init(&archive->loading, NULL);
    error = unpacker_new(&archive->unpacker);
    return error ? error : unpacker_new(&archive->event_unpacker);
}

void session_archive_close(struct session_archive *archive)
{
    session_file_close(&archive->file);
    free(archive->pieces);
    free(archive->chunks);
    free(archive->numbers.modules);
    free(archive->numbers.offsets);
    code_numbers_free(&archive->numbers.codes);
    map64_free(&archive->numbers.names);
    for (uint32_t i = 0; i < archive->event_count; i++)
        event_outline_free(&archive->events[i].outline);
    free(archive->events);
    unpacker_free(archive->event_unpacker);
    bytes_free(&archive->event_stored);
    bytes_free(&archive->event_content);
    unpacker_free(archive->unpacker);
    bytes_free(&archive->stored);
    bytes_free(&archive->content);
    pthread_mutex_destroy(&archive->loading);
    pthread_mutex_destroy(&archive->lock);
}

bool session_archive_damage(struct session_archive *archive, struct saved_problem *out)
{
    bool damaged;

    pthread_mutex_lock(&archive->lock);
    damaged = archive->damaged;
    if (damaged)
        *out = archive->damage;
    pthread_mutex_unlock(&archive->lock);
    return damaged;
}
