/*
 * table_store.h - the unwind tables of all modules, each built once, in a file that programs map.
 *
 *   collector (a module of a feed) -> table_store_ask -> worker: table_source.h -> the file
 *     -> feed: where it lies -> capture/unwind/shared_tables.h
 *
 * A module is known by its build id, and one without by what the kernel says of its file. The file
 * only grows; it is written, never mapped, so a full disk is an error here and no fault there.
 *
 * Ownership  table_store_free removes the file, unless it is one to be continued. What programs have mapped stays theirs.
 * Threads    table_store_ask: any. The worker is a thread of its own.
 * Errors     table_store_new: 0, -ISOSCOPE_SYSTEM or -ISOSCOPE_NO_MEMORY. A table that cannot be
 *            had or stored is none.
 */
#ifndef ISOSCOPE_TABLE_STORE_H
#define ISOSCOPE_TABLE_STORE_H

#include "../symbols/files/module_file.h"

#include <stdbool.h>
#include <stdint.h>

struct table_store;

/* at: bytes from the file's beginning; FEED_TABLE_NONE: there is none. */
struct table_place {
    uint64_t at;
    uint32_t bytes;
    bool stripped_go; /* it has no unwind data for its own code */
};

/* Programs have the file of a service before this one still mapped: it is written on where it ends.
 * One that is none, or has grown too large, is made anew; then programs say hello again. */
int table_store_continue(struct table_store **out, const char *path, void (*done)(void *context),
                         void *context);

/* path: the file is made anew. done: on the worker, when more tables are there; NULL is fine. */
int table_store_new(struct table_store **out, const char *path, void (*done)(void *context),
                    void *context);
void table_store_free(struct table_store *store); /* NULL is fine */

/* False: the worker has been asked for it. */
bool table_store_ask(struct table_store *store, const struct module_file *module,
                     struct table_place *out);

#endif
