/*
 * feed_allocations.h - the program's side of the table of sampled allocations that live.
 *
 *   capture/own (one is sampled, or its address is freed) -> table -> feed_reader.h in the service
 *
 * The service learns of a sampled allocation by its sample, and looks into the table whether it still
 * lives. So no ring need tell of its end, and none of that is ever lost.
 *
 * Threads    Any, without locks. An address is put and taken by whoever owns the memory just then.
 * Signals    SIGNAL_SAFE.
 */
#ifndef ISOSCOPE_FEED_ALLOCATIONS_H
#define ISOSCOPE_FEED_ALLOCATIONS_H

#include "feed_writer.h"

/* Returns its mark; 0: there is no place for it, or no address space for the table. */
SIGNAL_SAFE uint64_t feed_allocations_put(struct feed_writer *writer, uint64_t address,
                                          uint64_t number);
/* It is about to be freed. Returns what put gave; 0: it is not there. */
SIGNAL_SAFE uint64_t feed_allocations_take(struct feed_writer *writer, uint64_t address);
/* The next address that is in [from, to), by place: 0 at first. 0: there is none. */
SIGNAL_SAFE uint64_t feed_allocations_next(struct feed_writer *writer, uint32_t *place,
                                           uint64_t from, uint64_t to);
/* It was not, after all, or is another one now. */
SIGNAL_SAFE void feed_allocations_put_back(struct feed_writer *writer, uint64_t address,
                                           uint64_t mark);

#endif
