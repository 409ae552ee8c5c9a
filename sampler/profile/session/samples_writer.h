/*
 * samples_writer.h - what is new of one kind's samples, as blocks.
 *
 *   store (views since the last time) -> samples_writer -> PIEC and SMPL; KPIE and KSMP of kinds but time
 *
 * Ownership  The user's struct; samples_writer_open makes, samples_writer_close ends it.
 * Threads    One at a time.
 * Errors     As session_writer.h.
 */
#ifndef ISOSCOPE_SESSION_SAMPLES_WRITER_H
#define ISOSCOPE_SESSION_SAMPLES_WRITER_H

#include "format/sample_columns.h"
#include "table_writer.h"

/* How much of the store has been told. */
struct samples_cursor {
    uint64_t chunk;
    uint32_t sample;   /* as the chunk counts */
    uint64_t sequence; /* of the next one to come */
    bool begun;        /* the file has something of the chunk, up to: */
    uint32_t told_samples, nodes, frames, sources;
};

struct samples_writer {
    enum sample_kind kind;
    struct samples_cursor cursor;
    struct columns columns;
    struct piece piece;
    struct stack_writing stacks;    /* of the chunk */
    uint32_t *numbers;              /* of the piece's samples */
    uint32_t renames;               /* of the store, that are told */
    uint64_t samples, file_samples; /* of all files, and of this one */
};

int samples_writer_open(struct samples_writer *writer, enum sample_kind kind);
void samples_writer_close(struct samples_writer *writer); /* zeros are fine */
/* A new file. */
void samples_writer_begin(struct samples_writer *writer);
/* All is told once more: what is in the store has come anew. */
void samples_writer_again(struct samples_writer *writer);
/* Samples of a chunk that were not told yet. 1: there may be more. */
int samples_writer_put(struct samples_writer *writer, struct table_writer *tables,
                       struct bytes *out);

#endif
