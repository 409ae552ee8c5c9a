/*
 * piece.h - what a session says of some samples of a chunk before them: PIEC, of kinds but time KPIE.
 *
 * It is enough to know whose samples they are and of which time, without unpacking them.
 *
 * Units      *_us: CLOCK_MONOTONIC microseconds.
 * Ownership  struct piece is the user's: all zeros is empty, piece_free ends it.
 * Errors     As entry.h.
 */
#ifndef ISOSCOPE_SESSION_PIECE_H
#define ISOSCOPE_SESSION_PIECE_H

#include "../../store/chunk.h"
#include "entry.h"

/* A thread with a tag, in numbers of the file. */
struct piece_source {
    uint32_t thread, tag;
};

/* A source's samples of the piece. */
struct piece_count {
    uint32_t source, last; /* last: its last sample in the chunk */
    uint32_t states[OWNER_STATES];
};

struct piece {
    enum sample_kind kind; /* SAMPLE_KINDS: one that only a later isoscope knows */
    uint32_t first_sample, samples;
    uint32_t first_node, nodes, first_frame, frames; /* they begin with 1 */
    int64_t min_us, max_us;
    uint32_t cpu_unit, cpu_base; /* sample_columns.h; in chunk_weight_unit, and in cpu_unit */
    uint32_t first_source;
    struct piece_source *sources; /* that are new to the chunk */
    uint32_t source_count, source_capacity;
    struct piece_count *counts; /* of those that have samples in it */
    uint32_t count_count, count_capacity;
};

void piece_free(struct piece *piece);
/* NULL: no memory. */
json_t *piece_write(const struct piece *piece);
/* Whether it is the first of its chunk. */
bool piece_begins(const struct piece *piece);
/* Of a KPIE: whose samples come. */
enum sample_kind piece_kind(struct entry *entry);
/* Into one that is empty but for its kind. before: the one that it goes on with; NULL: there is none. What it says fits
 * into a chunk, and its sources are counted. */
void piece_read(struct entry *entry, const struct piece *before, struct piece *out);

#endif
