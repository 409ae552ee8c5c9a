/*
 * taking.h - a snapshot on the way: one phase after the other, in turns.
 *
 *   snapshot_begin (views, window) -> taking: which samples, their names, their counts -> snapshot_next
 *
 * Ownership  The snapshot's, until it is taken.
 * Threads    As the snapshot's: one at a time.
 * Errors     taking_step: 0 when it is taken; 1: call again; -ISOSCOPE_NO_MEMORY, -ISOSCOPE_PENDING.
 */
#ifndef ISOSCOPE_TAKING_H
#define ISOSCOPE_TAKING_H

#include "../snapshot.h"
#include "counted.h"
#include "stacks.h"
#include "tables.h"
#include "window.h"

enum phase { PHASE_COUNT, PHASE_FIRST, PHASE_NAMES, PHASE_ASK, PHASE_TICKS, PHASE_DONE };

/* What is needed while a snapshot is taken, and no longer. */
struct taking {
    enum phase phase;
    uint32_t view, sample;                  /* how far the phase is */
    bool in_view;                           /* the view has begun */
    uint64_t named[CHUNK_ENTRIES_MAX / 64]; /* nodes of the view: their frames are in the tables */
    struct stacks stacks;                   /* of the view */
    uint32_t slot;                          /* of the stacks */
    uint32_t *seen;                         /* by function, the last stack it was counted for */
    uint32_t stack;                         /* the number of this one */
    uint32_t deepest;
};

/* Whole, for snapshot.c and taking.c alone. */
struct snapshot {
    uint32_t period_us, depth_max;
    struct store_view *views; /* hold the chunks */
    uint32_t view_count;
    struct table_chain **chains; /* by view (NULL: it has no samples), then by its chunk's frame
                                  * number; empty: not in use */
    struct window window;
    bool is_counted;
    struct counted counted;
    uint32_t told; /* how many samples, copies among them */
    int64_t first_us, last_us;
    struct tables tables;
    uint32_t *stack;       /* snapshot_next's result; room for the deepest */
    struct taking *taking; /* NULL: it is taken */
};

int taking_step(struct snapshot *snapshot, struct taking *taking, int64_t *work);
void taking_free(struct taking *taking); /* NULL is fine */

enum { STACK_BLOCK = 4 }; /* frames that are written at once: snapshot->stack has room for them */

#endif
