/*
 * module_places.h - which of a feed's modules lies around an address.
 *
 *   a frame that the program knew no module for -> module_places_find -> feed's module, offset
 *
 * Most such frames are a JIT's, of no module ever, and a sample has dozens: to ask each module in
 * turn would cost more than all else that is done for a sample. The feed's table only grows, so
 * what is sorted once holds until it has.
 *
 * Ownership  The user's struct: all zeros is empty, module_places_free ends it.
 * Threads    One at a time.
 */
#ifndef ISOSCOPE_MODULE_PLACES_H
#define ISOSCOPE_MODULE_PLACES_H

#include "../../feed/feed_reader.h"
#include "../naming/interval_map.h"

struct module_place;

struct module_places {
    struct module_place *places;
    uint32_t count;
    struct interval_map map;
    uint32_t modules; /* of the feed, when it was built */
};

/* The frame with its module, or pc as it is. The newest of two modules that were at the same place
 * at different times is the likelier one. */
uint64_t module_places_find(struct module_places *places, struct feed_reader *reader, uint64_t pc);
/* The same of an address anywhere in an object that is mapped from start to end: of its data. */
uint64_t module_places_find_in(struct module_places *places, struct feed_reader *reader,
                               uint64_t address, uint64_t start, uint64_t end);
void module_places_free(struct module_places *places);

#endif
