/*
 * module_entry.h - a module of a session: MODS.
 *
 * Errors     As entry.h; module_entry_read without memory fails its entry.
 */
#ifndef ISOSCOPE_SESSION_MODULE_ENTRY_H
#define ISOSCOPE_SESSION_MODULE_ENTRY_H

#include "../../naming/registry.h"
#include "entry.h"

/* As much as is known of it now. NULL: no memory. */
json_t *module_entry_write(const struct module *module);
enum module_keeping {
    MODULE_KEEP_NUMBER = 1, /* its number in the file, where that is free */
    MODULE_OPEN = 2,        /* as module_saved's */
};

/* Puts it into the registry. number: the file's; returns the registry's, 0 where the entry is bad.
 */
uint32_t module_entry_read(struct entry *entry, struct registry *registry,
                           enum module_keeping keeping, uint32_t *number);

#endif
