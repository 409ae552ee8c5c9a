/*
 * tables.h - the functions, libraries and frames of one snapshot, each once.
 *
 *   snapshot (each distinct FRAME_KEY) -> tables -> chains, functions, symbols
 *
 * A stored frame is one pc; in the source it is a chain: that function, and what it is inlined
 * into.
 *
 * Ownership  All zeros but profile and available is an empty one; tables_free ends it.
 * Threads    One at a time.
 * Errors     0 or -ISOSCOPE_NO_MEMORY.
 */
#ifndef ISOSCOPE_TABLES_H
#define ISOSCOPE_TABLES_H

#include "../base/map64.h"
#include "../parts.h"
#include "../snapshot.h"
#include "../work.h"

struct table_chain {
    uint32_t first; /* of the frames; where there are none, in which round they were looked for */
    uint32_t count : 31;
    uint32_t open : 1; /* not all is known yet; count 0: nothing is */
};

struct tables {
    struct profile *profile;
    bool partial_names_ok; /* what is not known yet stays without names */
    bool pending;          /* frames are being named that somebody else has asked for */
    uint32_t round;        /* of tables_ask */
    uint64_t *missing; /* frames that nobody has asked for yet, but for the first missing_asked */
    uint32_t missing_count, missing_capacity, missing_asked;
    bool resolved; /* there is no worker: the last ones asked for are known now */

    struct snapshot_function *functions;
    uint32_t function_count, function_capacity;
    struct snapshot_library *libraries;
    uint32_t library_count, library_capacity;
    struct snapshot_frame *frames;
    uint32_t frame_count, frame_capacity;
    struct table_chain *chains;
    uint32_t chain_count, chain_capacity;
    char **offset_names; /* "module+0xoffset": the names that belong to the table */
    uint32_t offset_name_count, offset_name_capacity;
    struct map64 by_frame;  /* FRAME_KEY -> chain */
    struct map64 by_number; /* functions.h -> function */
    struct map64 by_offset; /* FRAME_KEY of what nothing names -> function */
    struct map64 by_module; /* module number -> library */
};

/* number: in chains. Where names are not there yet (pending, or added to missing) the chain is
 * empty, unless what is available will do; added again after tables_ask, it is looked for again. */
int tables_add(struct tables *tables, uint64_t frame, uint32_t *number);
/* Looks again for what an open chain of the frame is, and does not give up what is known of it.
 * changed: more is known. */
int tables_again(struct tables *tables, uint64_t frame, uint32_t number, bool *changed);
/* The missing ones are looked for. 1: call again. 0: some are pending now or, when resolved, all
 * are to be added again. */
int tables_ask(struct tables *tables, int64_t *work);
/* Nothing more will be added or asked: gives back what only that needs, chains too. */
void tables_settle(struct tables *tables);
void tables_free(struct tables *tables);

#endif
