/*
 * sample_columns.h - a piece's samples, and the nodes and frames that they add to their chunk: SMPL, of kinds but
 * time KSMP.
 *
 *   view (a chunk as it is) -> sample_columns_write -> block -> sample_columns_read -> chunk
 *
 * What is told of a sample is what a reader cannot guess: it ran since its source's last sample, for
 * about as long as others did.
 *
 * Errors     Writing: bytes.h. Reading: NULL, or why the columns cannot be.
 */
#ifndef ISOSCOPE_SESSION_SAMPLE_COLUMNS_H
#define ISOSCOPE_SESSION_SAMPLE_COLUMNS_H

#include "../../base/map64.h"
#include "../../store/store.h"
#include "code_numbers.h"
#include "columns.h"
#include "piece.h"
#include "stack_numbers.h"

/* Chooses the piece's unit and base of weights. */
void sample_columns_measure(const struct store_view *view, const uint32_t *numbers,
                            struct piece *piece);
/* The samples of the view that the numbers name, piece->samples of them, of the piece's nodes and
 * frames. stacks: of the chunk's pieces before. */
void sample_columns_write(const struct store_view *view, const struct piece *piece,
                          const uint32_t *numbers, struct stack_writing *stacks,
                          struct columns *columns, struct bytes *out);

/* How the file's frames become the profile's. */
struct frame_numbers {
    uint16_t *modules;  /* MODULES_MAX + 1, by the file's number; 0: there is none */
    uint8_t *offsets;   /* module_offsets, by the same */
    struct map64 names; /* file's -> profile's */
    struct code_numbers codes;
};

/* Into the chunk's arrays, at the piece's places; sources: how many the chunk has by then. */
const char *sample_columns_read(const struct bytes *content, const struct piece *piece,
                                uint32_t sources, const struct frame_numbers *numbers,
                                int64_t shift_us, struct stack_reading *stacks,
                                struct chunk *chunk);

#endif
