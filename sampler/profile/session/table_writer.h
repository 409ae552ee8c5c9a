/*
 * table_writer.h - all of a session but its samples: what they refer to, and what else is known.
 *
 *   session_writer (what samples need) -> table_writer -> blocks of tables
 *
 * Ownership  The user's struct; table_writer_close ends it. It borrows the options.
 * Threads    One at a time.
 * Errors     0 or -ISOSCOPE_NO_MEMORY.
 */
#ifndef ISOSCOPE_SESSION_TABLE_WRITER_H
#define ISOSCOPE_SESSION_TABLE_WRITER_H

#include "../parts.h"
#include "../recorder.h"
#include "format/blocks.h"
#include "format/chain_columns.h"
#include "format/entry.h"
#include "told.h"

struct table_writer {
    struct profile *profile;
    const struct session_options *options;
    bool recording;
    struct packer *packer;
    struct bytes content;
    struct columns columns;
    uint64_t missed; /* samples that no file has */
    uint32_t allocation_bytes, lock_us,
        faults; /* as they were last that were not 0: there may be samples */
    uint64_t events_missed;

    /* Of the file. */
    struct told told;
    struct functions_told functions;
    struct chain_state chain_state;
    json_t *threads, *names; /* that the next samples need */
    uint64_t version;        /* of the profile's processes, when all of them was told */
    bool counts;             /* it is time for what has only been counted since */
    int64_t counts_us, facts_us, mappings_us;

    struct chain_list chains;
};

int table_writer_open(struct table_writer *writer, struct profile *profile,
                      const struct session_options *options, bool recording);
void table_writer_close(struct table_writer *writer);

int table_writer_begin(struct table_writer *writer, int64_t start_us, struct bytes *out);
/* Appends an object as a block. Takes it over; NULL is no memory. */
int table_writer_put(struct table_writer *writer, const char *type, json_t *object,
                     struct bytes *out);

/* The samples that come need it. The thread's number; 0: no memory. */
uint32_t table_writer_thread(struct table_writer *writer, const struct owner_thread *thread,
                             const char *name);
void table_writer_name(struct table_writer *writer, uint32_t name);
void table_writer_frame(struct table_writer *writer, uint64_t frame);
/* Threads of the views may have other names by now. */
void table_writer_renames(struct table_writer *writer, const struct store_view *views,
                          uint32_t count);
int table_writer_before_samples(struct table_writer *writer, struct bytes *out);

/* As session_writer's, but for facts_writer.h. */
int table_writer_tables(struct table_writer *writer, int64_t now_us, struct bytes *out);
/* The same at the end of a file: with all that was counted. */
int table_writer_last_tables(struct table_writer *writer, int64_t now_us, struct bytes *out);
/* Modules of which more is known than was told. */
int table_writer_modules(struct table_writer *writer, struct bytes *out);

#endif
