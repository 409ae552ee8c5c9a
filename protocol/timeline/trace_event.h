/*
 * trace_event.h - an event of a timeline as Chrome's trace format has it, in the Dart VM's words.
 *
 * ph    of
 * B E   a slice's sides          X      a whole slice: it may cross others
 * i     instants, and ends without a begin
 * b n e async events; a frame's sides, whose id is its number
 * s t f flows                    C      counters: each argument is a series
 * M     names of processes and threads
 *
 * Times are whole microseconds, as the VM's clients expect. All but counters name their isolate.
 */
#ifndef ISOSCOPE_TRACE_EVENT_H
#define ISOSCOPE_TRACE_EVENT_H

#include "timeline_order.h"
#include "../text/json_writer.h"

void trace_event_put(struct json_text *text, const struct timeline_event *event,
                     enum timeline_side side, int32_t pid);
/* A name: tid 0: of the process. */
void trace_event_put_name(struct json_text *text, int32_t pid, int32_t tid, const char *name);

#endif
