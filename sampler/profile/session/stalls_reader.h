/*
 * stalls_reader.h - blocks STLS into the list of stalls.
 *
 * Threads, Errors: as session_reader.h.
 */
#ifndef ISOSCOPE_SESSION_STALLS_READER_H
#define ISOSCOPE_SESSION_STALLS_READER_H

#include "format/entry.h"
#include "session_reader.h"

void stalls_reader_stall(struct session_reader *reader, struct entry *entry);

#endif
