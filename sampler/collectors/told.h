/*
 * told.h - what the collectors know of a program's names and ids, as isoscope's sites want it.
 *
 *   itt.c, nvtx.c -> told -> isoscope/event.h
 *
 * Ownership  Sites are made once for each stream and name, and live for good.
 * Threads    Any.
 * Errors     A name too many, or no memory: the site of its stream that is called "...".
 */
#ifndef ISOSCOPE_TOLD_H
#define ISOSCOPE_TOLD_H

#include "../include/isoscope/optional.h"

#include <stdbool.h>
#include <stdint.h>

struct isoscope_site *told_site(const char *stream, const char *name);

/* What began under an id, until it ends. */
struct told_id {
    const void *domain;
    uint64_t words[3];
};
/* A number for isoscope, the same for the same id. */
uint64_t told_number(const struct told_id *id);
/* site: what began; start_ns: when. False: there is no room, and its end will not be found. */
bool told_keep(const struct told_id *id, struct isoscope_site *site, uint64_t start_ns);
/* NULL: nothing began under it. */
struct isoscope_site *told_take(const struct told_id *id, uint64_t *start_ns);

/* Tells an event without arguments. */
void told_event(struct isoscope_site *site, enum isoscope_event_kind kind, uint64_t id);

#endif
