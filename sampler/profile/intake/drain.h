/*
 * drain.h - one round's samples: out of the rings, into the store, in the order of time; and its events.
 *
 *   rings of all processes -> drain_process (normalizes) -> drain_flush (sorts) -> store
 *   rings of events        -> drain_process -> process_events -> store of events
 *
 * Ownership  The drain keeps its buffers from round to round; it borrows the rest.
 * Threads    One at a time: whoever runs the round.
 * Errors     A sample that finds no memory is lost, and counted in its owner's unstored; an event is
 *            counted by its store.
 */
#ifndef ISOSCOPE_DRAIN_H
#define ISOSCOPE_DRAIN_H

#include "process.h"

struct drain;

struct drain_options {
    const struct stores *stores;
    struct event_store *events;
    struct streams *streams;
    struct registry *registry;
    struct symbolizer *symbolizer;
};

int drain_new(struct drain **out, const struct drain_options *options);
void drain_free(struct drain *drain); /* NULL is fine */

/* Takes what each thread wrote up to until_us, and all its events. What is later than possible_us is a
 * lie. */
void drain_process(struct drain *drain, struct process *process, int64_t until_us,
                   int64_t possible_us);
/* Stores what was taken. Returns how many samples and events that were, since the flush before. */
uint64_t drain_flush(struct drain *drain);

#endif
