/*
 * functions_table.h - how functions.h keeps its records: for its own two modules.
 *
 *   functions.c (finds, adds, completes), functions_saved.c (what sessions write and put back)
 */
#ifndef ISOSCOPE_FUNCTIONS_TABLE_H
#define ISOSCOPE_FUNCTIONS_TABLE_H

#include "../base/map64.h"
#include "../store/names.h"
#include "function_key.h"

#include <pthread.h>

enum { BLOCK_RECORDS = 1024, BLOCKS = FUNCTIONS_MAX / BLOCK_RECORDS };

struct record {
    struct function function;
    struct function_key key; /* name NULL: no debug data has told of it */
    uint32_t same_as;        /* the record that this is another name of; 0: none */
    bool of_source;          /* its names are: no symbol has been met yet */
    uint64_t version;        /* of the table, when it changed last */
};

struct functions {
    pthread_mutex_t lock; /* guards all */
    uint64_t version;     /* +1 for each change */
    struct names *texts, *paths;
    struct record *blocks[BLOCKS];
    uint32_t count;         /* numbers [1, count) are there */
    struct map64 by_start;  /* FRAME_KEY(module, start) -> number */
    struct map64 by_source; /* a key's hash, or what follows it when another key has it -> number */
    struct function_files files;
};

static inline struct record *record_at(const struct functions *functions, uint32_t number)
{
    return &functions->blocks[number / BLOCK_RECORDS][number % BLOCK_RECORDS];
}

/* NULL: there is none. */
static inline struct record *find_record(const struct functions *functions, uint32_t number)
{
    struct record *record;

    if (!number || number >= functions->count || !functions->blocks[number / BLOCK_RECORDS])
        return NULL;
    record = record_at(functions, number);
    return record->function.number ? record : NULL;
}

/* Where the key's number stands, or belongs (0); NULL: no memory. */
uint32_t *functions_place_of_key(struct functions *functions, const struct function_key *key);

static inline void mark_changed(struct functions *functions, struct record *record)
{
    record->version = ++functions->version;
}

static inline uint32_t root_of(const struct functions *functions, uint32_t number)
{
    uint32_t same;

    while (number && (same = record_at(functions, number)->same_as))
        number = same;
    return number;
}

#endif
