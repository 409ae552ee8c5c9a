/*
 * perfetto_events.h - a timeline's events as packets, and the tracks that they stand on.
 *
 * on                         what
 * their thread's track       slices; instants; flows, as instants that bind to the slice around them
 * a lane of that             slices that cross others: perfetto_lanes.h
 * a track of the process     async events of one id; frames of one name; each series of a counter
 *
 * Ownership  The caller owns a struct perfetto_events; zeroed is empty.
 * Errors     Out of memory sets failed, here or in bytes.
 */
#ifndef ISOSCOPE_PERFETTO_EVENTS_H
#define ISOSCOPE_PERFETTO_EVENTS_H

#include "perfetto_lanes.h"
#include "../text/json_writer.h"
#include "../timeline/timeline_order.h"

struct perfetto_events {
    struct numbering tracks; /* that are told, by uuid */
    struct perfetto_lanes lanes;
};

/* The tracks of its process (pid) and thread are told before. */
void perfetto_events_put(struct perfetto_events *events, struct json_text *bytes,
                         const struct timeline_event *event, enum timeline_side side, int32_t pid);
bool perfetto_events_failed(const struct perfetto_events *events);
void perfetto_events_free(struct perfetto_events *events);

#endif
