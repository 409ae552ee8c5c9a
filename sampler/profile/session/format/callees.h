/*
 * callees.h - the frames below frames of a chunk in small numbers: most of a frame's callees are ones
 * that it had before, from elsewhere in the tree.
 *
 * The callees of a frame are numbered from 1 in the order in which they come. 0 says: a new one, whose
 * frame is told by how much it is above the largest so far. Frame 0 is the caller of the outermost.
 *
 * Ownership  The user's structs: all zeros is before the first one; the _free functions end them.
 * Errors     Without memory a callee is new each time (writing), or the reason says so (reading).
 */
#ifndef ISOSCOPE_SESSION_CALLEES_H
#define ISOSCOPE_SESSION_CALLEES_H

#include "../../base/map64.h"
#include "columns.h"

struct callee_writing {
    struct map64 numbers; /* caller and callee -> number */
    struct map64 counts;  /* by caller */
    uint32_t frame_max;
};

void callee_write(struct callee_writing *writing, uint16_t caller, uint16_t callee,
                  struct bytes *number, struct bytes *new_frame);
void callee_writing_free(struct callee_writing *writing);

struct frame_list {
    uint16_t *frames;
    uint32_t count, capacity;
};

struct callee_reading {
    struct frame_list *lists; /* by caller */
    uint32_t list_count, list_capacity;
    uint32_t frame_max;
};

/* frames: below it frames must be. NULL, or why it cannot be. */
const char *callee_read(struct callee_reading *reading, struct column *number,
                        struct column *new_frame, uint16_t caller, uint32_t frames,
                        uint16_t *callee);
void callee_reading_free(struct callee_reading *reading);

/* What is told by how much it is above the largest so far. */
void above_write(struct bytes *column, uint32_t number, uint32_t *max);
/* False: it is not below. */
bool above_read(struct column *column, uint32_t *max, uint32_t below, uint16_t *out);
/* The key's number in the map; 0: it is new, and has the next one now. */
uint32_t number_of(struct map64 *map, uint64_t key, uint32_t *count);

#endif
