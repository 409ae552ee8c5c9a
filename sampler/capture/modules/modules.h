/*
 * modules.h - what is mapped with code in this process, and the tables to unwind it.
 *
 *   /proc/self/maps, and the ELF headers in memory -> modules -> code_map.h for the handler
 *                                                             -> module table of the feed
 *   the service's answer there: where a module's unwind table lies -> shared_tables.h -> code_map.h
 *
 * It asks the kernel, not the loader: no loader lock is taken, so nothing the program does with
 * dlopen, dlclose or fork can meet us there. Memory is read through the kernel as well: what is
 * unmapped meanwhile gives an error, no fault.
 *
 * Threads    One at a time for each struct modules: by a tick (tend.h), in a forked child before its
 *            first; in the service the thread of wall mode's rounds.
 * Signals    What is marked is SIGNAL_SAFE.
 * Errors     A module that cannot be read stays without a table; stacks end there and say so.
 */
#ifndef ISOSCOPE_MODULES_H
#define ISOSCOPE_MODULES_H

#include "jit_areas.h"

#include "../../feed/feed_writer.h"
#include "../unwind/code_map.h"
#include "../unwind/shared_tables.h"

#include <stdbool.h>
#include <stdint.h>

enum { MODULES_IMAGES_MAX = 4096, MODULE_RANGES_MAX = 4 };

/* A file that was ever mapped with code. Its index is its feed module number. */
struct loaded_file {
    uint64_t inode;
    uint32_t dev_major, dev_minor;
    const char *path;
    struct feed_module feed; /* as it stands in the feed */
    bool table_known;
    const struct unwind_table *table; /* NULL: there is none, or it is not known */
};

/* One mapping of a file, now. */
struct module_image {
    uint64_t start, end; /* all of its mappings */
    uint64_t offset;     /* in the file, of the last of them */
    uint64_t inode;
    uint32_t dev_major, dev_minor;
    uint64_t bias;
    uint32_t number; /* of its file */
    bool permanent;
    struct {
        uint64_t start, end, offset;
    } ranges[MODULE_RANGES_MAX]; /* executable ones */
    uint32_t range_count;
};

/* A list that grows as far as it is used: mlockall locks what is mapped. */
struct image_list {
    struct module_image *items;
    uint32_t room; /* for so many */
};

struct path_chunk;  /* some of the files' paths */
struct scan_memory; /* what one look at the maps needs */

/* All zeros: this process itself. */
struct modules_target {
    struct jit_process process;
    uint32_t numbers_from; /* what its files' numbers in the map begin behind */
};

struct modules {
    struct code_maps maps;
    struct loaded_file *files; /* [0] is unused */
    uint32_t file_count, files_room;
    struct path_chunk *paths;
    struct scan_memory *scan; /* kept for oneself; another process's goes after each look */
    struct image_list images, images_next; /* now, and the list under construction */
    uint32_t image_count;
    struct jit_areas jit, jit_next;
    struct shared_tables tables;
    uint32_t tables_to_come; /* files whose table is not known */
    uint64_t table_bytes;
    uint32_t unloads; /* maps.unloads, when the last scan began */
    bool started;     /* the first scan is done */
    struct modules_target target;
};

void modules_new(struct modules *modules);
/* Of another process, which is looked at from here: without a feed, and modules_set_table says
 * which table a file has. */
void modules_new_of(struct modules *modules, const struct modules_target *target);
void modules_free(struct modules *modules);

/* Looks what is mapped and publishes a new map if that changed. True when it did. writer: whose
 * module table has what is found; NULL: nobody's, and the numbers in the map are all. */
SIGNAL_SAFE bool modules_refresh(struct modules *modules, struct feed_writer *writer);
/* The map has it from modules_publish on. NULL: there is none. */
SIGNAL_SAFE void modules_set_table(struct modules *modules, uint32_t number,
                                   const struct unwind_table *table);
SIGNAL_SAFE bool modules_publish(struct modules *modules);
/* Takes the tables that the service has told of since, and publishes a map with them. True when
 * there were any. */
SIGNAL_SAFE bool modules_take_tables(struct modules *modules, struct feed_writer *writer);
/* Another service has another file, and has told of nothing yet. */
SIGNAL_SAFE void modules_forget_tables(struct modules *modules, struct feed_writer *writer);
/* Puts all known files into a new feed under their old numbers (a forked child). */
SIGNAL_SAFE void modules_announce(struct modules *modules, struct feed_writer *writer);
/* Frees what no handler can hold any more. */
SIGNAL_SAFE void modules_reclaim(struct modules *modules);

#endif
