/*
 * timeline_table.h - a timeline on its way out as a _TimelineTable: events as columns.
 *
 *   timeline -> blocks of BLOCK events, each with the texts and threads that it names first
 *
 * Ownership  The writer owns the timeline.
 * Threads    The service thread.
 */
#ifndef ISOSCOPE_TIMELINE_TABLE_H
#define ISOSCOPE_TIMELINE_TABLE_H

#include "../rpc/reply_stream.h"
#include "../../sampler/profile/timeline.h"

/* envelope: the reply's text before the value of "result"; copied. Takes over timeline, also when it
 * fails: -ISOSCOPE_NO_MEMORY. */
int timeline_table_new(struct reply_stream **out, struct timeline *timeline,
                       struct profile *profile, const char *envelope);

#endif
