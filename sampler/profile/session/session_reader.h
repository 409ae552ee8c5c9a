/*
 * session_reader.h - a session file into a profile: all its tables, and where its samples are.
 *
 * Ownership  The user's structs; session_reader_close ends a reader. The archive stays with the
 *            profile.
 * Threads    One at a time.
 * Errors     As session_file.h.
 */
#ifndef ISOSCOPE_SESSION_READER_H
#define ISOSCOPE_SESSION_READER_H

#include "../parts.h"
#include "format/chain_columns.h"
#include "session_archive.h"
#include "format/settings_entry.h"

/* A chunk whose pieces are being met. */
struct chunk_building {
    struct chunk outline;
    uint32_t *states; /* as store_add_archived's */
    uint32_t source_capacity, state_capacity;
    struct archived_piece *pieces;
    uint32_t piece_count, piece_capacity;
    bool begun;
};

struct reader_thread {
    struct owner_thread *of[SAMPLE_KINDS]; /* held; but of time: NULL: it has none yet */
    struct owner_thread *events;           /* the same in the store of events */
};

struct reader_process {
    uint64_t id; /* the profile's */
    struct owner *owner;
};

struct session_reader {
    struct profile *profile;
    struct session_archive *archive;
    struct saved_problem *problem;
    bool keep;    /* numbers of the file are the profile's */
    bool is_open; /* what has no name may get one here */
    struct unpacker *tables;
    struct bytes stored, content;
    uint64_t budget; /* bytes that tables may still come to */
    struct function_numbers functions;
    struct chain_state chain_state;
    struct map64 threads, processes; /* file's number or id -> place in the list + 1 */
    struct reader_thread *thread_list;
    uint32_t thread_count, thread_capacity;
    struct reader_process *process_list;
    uint32_t process_count, process_capacity;
    struct chunk_building chunks[SAMPLE_KINDS]; /* one of each kind */
    struct piece piece;                         /* that the next block is of */
    bool piece_expected;
    struct event_outline outline; /* of the events that the next block has */
    bool events_expected;
    struct map64 loops;       /* profile's number -> place in its list + 1 */
    uint32_t first_loop;      /* the last number of the files before */
    uint32_t first_unwatched; /* how many they had */
    bool stalls_met;
    uint64_t first_stall; /* then: the last number of the files before */

    /* What was read. */
    struct session_settings settings;
    char *state; /* NULL: none */
    uint64_t samples, events;
    int64_t end_us; /* the latest that was met, shifted */
    bool closed;
};

/* The archive's file is open. Its first block is left to be read by session_reader_read. */
int session_reader_open(struct session_reader *reader, struct profile *profile,
                        struct session_archive *archive, struct saved_problem *problem);
/* The first block alone; the caller frees it. */
int session_reader_head(struct session_reader *reader, struct session_head *out);
/* All, with the archive's shift_us, and keep and is_open as they are set. */
int session_reader_read(struct session_reader *reader);
void session_reader_close(struct session_reader *reader);

#endif
