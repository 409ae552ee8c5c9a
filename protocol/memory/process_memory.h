/*
 * process_memory.h - what takes a process' memory, as a tree.
 *
 *   facts.h: mappings -> process_memory_tree -> {name, description, size, children}
 *
 * Units      bytes that are in RAM; a node's children add up to it.
 * Errors     What cannot be read (the process has ended, or belongs to somebody else) has size 0
 *            and no children. NULL when out of memory.
 */
#ifndef ISOSCOPE_PROCESS_MEMORY_H
#define ISOSCOPE_PROCESS_MEMORY_H

#include "../../sampler/profile/facts.h"
#include "../../sampler/profile/snapshot.h"

#include <jansson.h>

json_t *process_memory_tree(struct profile *profile, const struct process_info *process);

/* The root of several. */
json_t *process_memory_node(const char *name, const char *description, json_t *children);

#endif
