/*
 * loops_reader.h - blocks LOOP into what a saved profile keeps of loops.
 *
 * Threads, Errors: as session_reader.h.
 */
#ifndef ISOSCOPE_SESSION_LOOPS_READER_H
#define ISOSCOPE_SESSION_LOOPS_READER_H

#include "format/entry.h"
#include "session_reader.h"

enum {
    KEPT_LOOPS_MAX = 65536,
    KEPT_UNWATCHED_MAX = 4096,
    KEPT_HIGHS_MAX = 65536,
};

/* Loops of the file are numbered behind those that are there. */
void loops_reader_begin(struct session_reader *reader);
void loops_reader_loops(struct session_reader *reader, struct entry *entry);
/* The profile's number of a loop of the file. */
uint32_t loops_reader_number(const struct session_reader *reader, uint32_t number);

#endif
