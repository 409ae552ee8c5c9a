/*
 * events_reader.h - blocks of events, as chunks of the store that are loaded when they are looked at.
 *
 * Errors     As session_reader.h.
 */
#ifndef ISOSCOPE_SESSION_EVENTS_READER_H
#define ISOSCOPE_SESSION_EVENTS_READER_H

#include "session_reader.h"

/* EVTS: what the next block has. */
void events_reader_outline(struct session_reader *reader, struct entry *entry);
/* EVNT: where it is; it is whole. */
int events_reader_events(struct session_reader *reader, const struct block_place *place);

#endif
