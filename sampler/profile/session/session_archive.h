/*
 * session_archive.h - where the samples and events of a session's chunks are in its file, and how they
 * come out of it.
 *
 *   session_reader (finds them) -> session_archive -> store (chunk_archive: when they are looked at)
 *
 * Ownership  The user's struct, which must not move; session_archive_close ends it.
 * Threads    Loading: events one at a time, as event_archive; samples any. session_archive_damage: any.
 * Errors     As session_file.h.
 */
#ifndef ISOSCOPE_SESSION_ARCHIVE_H
#define ISOSCOPE_SESSION_ARCHIVE_H

#include "format/event_loading.h"
#include "format/sample_columns.h"
#include "session_file.h"

#include <pthread.h>

/* A piece's samples. */
struct archived_piece {
    struct piece piece; /* without its sources and counts */
    struct block_place place;
    uint32_t sources; /* so many the chunk has by then */
};

struct archived_chunk {
    uint32_t first, count; /* pieces */
    bool apart;            /* each is a frame of its own */
};

/* A block of events: a chunk of its own. */
struct archived_events {
    struct event_outline outline;
    struct block_place place;
};

struct session_archive {
    struct session_file file;
    struct event_archive event_archive; /* for the store of events */
    struct archived_events *events;
    uint32_t event_count, event_capacity;
    struct unpacker *event_unpacker;
    struct bytes event_stored, event_content;
    struct chunk_archive chunk_archive; /* for the store */
    struct archived_piece *pieces;
    uint32_t piece_count, piece_capacity;
    struct archived_chunk *chunks;
    uint32_t chunk_count, chunk_capacity;
    struct frame_numbers numbers;
    int64_t shift_us;
    pthread_mutex_t loading; /* of samples: stores of several kinds ask; guards the next three */
    struct unpacker *unpacker;
    struct bytes stored, content;

    pthread_mutex_t lock; /* guards the rest */
    bool damaged;
    struct saved_problem damage; /* the first */
};

int session_archive_new(struct session_archive *archive);
void session_archive_close(struct session_archive *archive);
/* False: there was none. */
bool session_archive_damage(struct session_archive *archive, struct saved_problem *out);

#endif
