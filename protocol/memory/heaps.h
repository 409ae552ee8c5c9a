/*
 * heaps.h - the two heaps of a Dart isolate, which clients look for in a native one too.
 *
 * The old one is the process' anonymous memory, the new one is empty. Each had one collection, for
 * DevTools divides by their number.
 */
#ifndef ISOSCOPE_HEAPS_H
#define ISOSCOPE_HEAPS_H

#include "../../sampler/profile/facts.h"

#include <jansson.h>

json_t *heaps_json(const struct process_memory *memory);

#endif
