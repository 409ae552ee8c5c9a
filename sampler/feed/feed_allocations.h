/*
 * feed_allocations.h - the program's side of the table of sampled allocations that live.
 *
 *   capture/own (one is sampled, or its address is freed) -> table -> feed_reader.h in the service
 *
 * The service learns of a sampled allocation by its sample, and looks into the table whether it still
 * lives. So no ring need tell of its end, and none of that is ever lost.
 *
 * A mark is one allocation's, and of no other ever after. Whoever takes it out of its place has ended
 * that allocation, and empties the place.
 *
 * Threads    Any, without locks. An address is put and taken by whoever owns the memory just then;
 *            feed_allocations_below is anybody's.
 * Signals    SIGNAL_SAFE.
 */
#ifndef ISOSCOPE_FEED_ALLOCATIONS_H
#define ISOSCOPE_FEED_ALLOCATIONS_H

#include "feed_writer.h"

/* Returns its mark; 0: there is no place for it, or no address space for the table. */
SIGNAL_SAFE uint64_t feed_allocations_put(struct feed_writer *writer, uint64_t address,
                                          uint64_t number, uint32_t level);
/* It is about to be freed. Returns what put gave; 0: it is not there. */
SIGNAL_SAFE uint64_t feed_allocations_take(struct feed_writer *writer, uint64_t address);
/* The next address that is in [from, to), by place: 0 at first. 0: there is none. */
SIGNAL_SAFE uint64_t feed_allocations_next(struct feed_writer *writer, uint32_t *place,
                                           uint64_t from, uint64_t to);
/* Takes the next one of a level below this, by place: 0 at first. Returns its address; 0: there is
 * none. */
SIGNAL_SAFE uint64_t feed_allocations_below(struct feed_writer *writer, uint32_t *place,
                                            uint32_t level);
/* It was not, after all, or is another one now. */
SIGNAL_SAFE void feed_allocations_put_back(struct feed_writer *writer, uint64_t address,
                                           uint64_t mark);
/* How many there are. */
SIGNAL_SAFE uint32_t feed_allocations_count(const struct feed_writer *writer);

#endif
