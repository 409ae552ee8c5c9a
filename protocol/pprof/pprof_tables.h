/*
 * pprof_tables.h - a profile's strings, mappings, functions and locations, each once: of one snapshot
 * after the other. Written as pprof's, or as an OTLP dictionary's.
 *
 *   snapshot -> pprof_tables_open -> frames of a stack -> pprof_location -> its number
 *
 * Numbers stand for the same in all snapshots of a profile, so samples of several kinds come
 * together in one entry.
 *
 * Ownership  The user's struct; all zeros but places and fields is an empty one, pprof_tables_free ends it. It
 *            borrows the places and, between open and the next one, the snapshot.
 * Errors     Out of memory: pprof_tables_failed says so.
 */
#ifndef ISOSCOPE_PPROF_TABLES_H
#define ISOSCOPE_PPROF_TABLES_H

#include "interned.h"
#include "otlp_attributes.h"
#include "pprof_places.h"
#include "table_fields.h"
#include "../text/json_writer.h"

struct pprof_tables {
    struct pprof_places *places;
    const struct table_fields *fields; /* pprof_table_fields or otlp_table_fields */
    struct interned strings, mappings, functions, locations;
    struct interned attributes; /* OTLP's */
    struct json_text bytes; /* all but the strings, as fields of the profile or the dictionary */
    const struct snapshot_function *snapshot_functions;
    const struct snapshot_frame *snapshot_frames;
    const struct snapshot_library *snapshot_libraries;
    uint32_t *of_function;  /* of the snapshot's: the number of ours; 0: not looked at yet */
    uint32_t *of_frame;     /* the same: the location that begins with this frame */
    struct json_text key;   /* of the location that is looked for */
    struct json_text entry; /* the function or attribute that is looked for */
    bool failed;
};

/* From now on frames are this snapshot's. program: the path of what is run, which comes first. */
void pprof_tables_open(struct pprof_tables *tables, struct snapshot *snapshot, const char *program);
bool pprof_tables_failed(const struct pprof_tables *tables);
void pprof_tables_free(struct pprof_tables *tables);

/* Its place in the string table; 0 is "". */
uint32_t pprof_string(struct pprof_tables *tables, const char *text);
/* For attributes of what is said by these tables, in OTLP's form. */
struct otlp_dictionary pprof_dictionary(struct pprof_tables *tables);
/* The location of the first of these frames, a stack's: it and what it is inlined into. used: how
 * many these are. */
uint32_t pprof_location(struct pprof_tables *tables, const uint32_t *frames, uint32_t depth,
                        uint32_t *used);
/* One that is in no code: it has a name only. */
uint32_t pprof_location_named(struct pprof_tables *tables, const char *name);

#endif
