/*
 * function_table.h - frames made into functions and libraries, each once.
 *
 *   snapshot (each distinct frame) -> function_table -> registry, symbols
 *
 * Ownership  All zeros but registry and namer is an empty table; function_table_free ends it.
 * Threads    One at a time.
 * Errors     0 or -ISOSCOPE_NO_MEMORY. Frames whose names are still being read count as pending.
 */
#ifndef ISOSCOPE_FUNCTION_TABLE_H
#define ISOSCOPE_FUNCTION_TABLE_H

#include "map64.h"
#include "registry.h"
#include "namer.h"
#include "snapshot.h"

struct function_table {
    struct registry *registry;
    struct namer *namer;
    bool pending; /* names of a module are being read: the table is of no use */
    struct snapshot_function *functions;
    uint32_t function_count, function_capacity;
    struct snapshot_library *libraries;
    uint32_t library_count, library_capacity;
    char **offset_names; /* "module+0xoffset": the names that belong to the table */
    uint32_t offset_name_count, offset_name_capacity;
    struct map64 by_start;  /* PROFILE_FRAME(module, function's start) -> function */
    struct map64 by_module; /* module number -> library */
};

/* The index of the frame's function. */
int function_table_add(struct function_table *table, uint64_t frame, uint32_t *function);
void function_table_free(struct function_table *table);

#endif
