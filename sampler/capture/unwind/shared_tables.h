/*
 * shared_tables.h - the unwind tables that the service has built, mapped here.
 *
 *   service: one file for all programs, append-only -> first page -> shared_tables_map -> rows
 *
 * The file's first page is mapped once. Any other part of the file is reached from there by the
 * kernel alone (mremap of nothing makes a second mapping), without a path and without a descriptor:
 * also in a chroot, in a handler, and in forked children.
 *
 * Ownership  What is mapped stays: a table belongs to a build, not to the module that has it now.
 * Threads    shared_tables_open: one at a time. shared_tables_map: any.
 * Signals    shared_tables_map is SIGNAL_SAFE.
 * Errors     false or NULL: there is no such file, or no room for the mapping.
 * Source     mremap(2): old_size 0 of a shared mapping.
 */
#ifndef ISOSCOPE_SHARED_TABLES_H
#define ISOSCOPE_SHARED_TABLES_H

#include "unwind_table.h"

#include <stdbool.h>

/* NULL until it is opened, and where there is none. */
struct shared_tables {
    const uint8_t *first_page;
};

/* Nothing, when it is open. */
SIGNAL_SAFE bool shared_tables_open(struct shared_tables *tables, const char *path);
/* At the path lies the file that is open, of the same service as ever; else another one, or none. */
SIGNAL_SAFE bool shared_tables_are_still(const struct shared_tables *tables, const char *path);
/* What is mapped of it stays. */
SIGNAL_SAFE void shared_tables_close(struct shared_tables *tables);
/* at: bytes from the file's beginning, a multiple of FEED_TABLE_ALIGN. */
SIGNAL_SAFE const struct unwind_table *shared_tables_map(const struct shared_tables *tables,
                                                         uint64_t at, uint64_t bytes);

#endif
