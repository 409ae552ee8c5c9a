/*
 * own_tables.h - this process's own modules get their unwind tables, as from a service.
 *
 *   modules_refresh -> feed's module table -> table_store.h -> modules_take_tables
 */
#ifndef OWN_TABLES_H
#define OWN_TABLES_H

#include "sampler/capture/modules/modules.h"
#include "sampler/profile/unwinding/table_store.h"

#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { OWN_TABLES_LOOKS = 60000, OWN_TABLES_LOOK_NS = 1000 * 1000 };

/* False: not within a minute. */
static inline bool own_tables_one(struct table_store *store, const struct modules *modules,
                                  const struct feed_writer *writer, uint32_t number)
{
    const struct module_file module = {
        .path = modules->files[number].path,
        .build_id = modules->files[number].feed.build_id,
        .build_id_bytes = modules->files[number].feed.build_id_bytes,
        .pid = getpid(),
        .address = modules->files[number].feed.start,
    };
    struct feed_module *told = feed_writer_module(writer, number);
    struct table_place place;

    for (int look = 0; !table_store_ask(store, &module, &place); look++) {
        if (look == OWN_TABLES_LOOKS)
            return false;
        nanosleep(&(struct timespec){ 0, OWN_TABLES_LOOK_NS }, NULL);
    }
    atomic_store(&told->table_bytes, place.bytes);
    atomic_store(&told->table_at, place.at);
    return true;
}

/* After modules_refresh. False: they could not be had. */
static inline bool own_tables(struct modules *modules, struct feed_writer *writer)
{
    struct table_store *store = NULL;
    char path[64];
    bool had = true;

    snprintf(path, sizeof(path), "/tmp/own_tables-%d", (int)getpid());
    if (table_store_new(&store, path, NULL, NULL) < 0)
        return false;
    modules_forget_tables(modules, writer); /* the file is another one each time */
    for (uint32_t number = 1; had && number < modules->file_count; number++)
        had = modules->files[number].table_known || own_tables_one(store, modules, writer, number);
    had = had && shared_tables_open(&modules->tables, path) && modules_take_tables(modules, writer);
    table_store_free(store);
    return had;
}

#endif
