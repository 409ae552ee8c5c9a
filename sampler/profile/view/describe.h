/*
 * describe.h - modules and functions in the words of snapshot.h.
 *
 * Ownership  Texts live as long as the profile; but for describe_offset_name's, which is the
 *            caller's.
 * Threads    Any.
 */
#ifndef ISOSCOPE_DESCRIBE_H
#define ISOSCOPE_DESCRIBE_H

#include "../naming/functions.h"
#include "../naming/registry.h"
#include "../snapshot.h"

void describe_library(const struct module *module, struct snapshot_library *out);
/* All but library, inclusive and exclusive, which are 0. */
void describe_function(const struct function *function, const struct module *module,
                       struct snapshot_function *out);

/* The same for code that no symbol names, at an offset of the module. name: as describe_offset_name
 * gave it. */
void describe_offset(const struct module *module, uint64_t offset, const char *name,
                     struct snapshot_function *out);
/* An offset of the module as a snapshot_frame has it. */
uint64_t describe_pc(const struct module *module, uint64_t offset);

/* What the program called it, or "module+0xoffset". NULL: no memory. */
char *describe_offset_name(const struct registry *registry, const struct module *module,
                           uint64_t offset);

#endif
