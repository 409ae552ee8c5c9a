/*
 * pieces.h - ranges of addresses laid over one another: at each address the latest one shows.
 *
 *     pieces_build(&pieces, ranges, count); pieces_find(&pieces, pc, &range)
 *
 * Ownership  The user's struct: all zeros is empty, pieces_free ends it.
 * Errors     0 or -ISOSCOPE_NO_MEMORY; then the pieces stay as they were.
 */
#ifndef ISOSCOPE_PIECES_H
#define ISOSCOPE_PIECES_H

#include <stdbool.h>
#include <stdint.h>

struct piece_range {
    uint64_t start, end;
};

struct piece {
    uint64_t start; /* it goes up to the next piece's start */
    uint32_t range; /* PIECE_NONE */
};

enum { PIECE_NONE = UINT32_MAX };

struct pieces {
    struct piece *pieces;
    uint32_t count;
};

/* ranges: the latest last, each with an end beyond its start; 2^30 at most. stride: bytes from one
 * to the next. */
int pieces_build(struct pieces *pieces, const void *ranges, uint32_t count, uint32_t stride);
void pieces_free(struct pieces *pieces);
/* False: no range covers the address. */
bool pieces_find(const struct pieces *pieces, uint64_t address, uint32_t *range);

#endif
