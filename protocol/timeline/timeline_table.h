/*
 * timeline_table.h - a timeline on its way out as a _TimelineTable: events as columns.
 *
 *   timeline -> blocks of BLOCK events, each with the texts and threads that it names first
 *
 * Ownership  The writer owns the timeline, and copies the options.
 * Threads    The service thread.
 */
#ifndef ISOSCOPE_TIMELINE_TABLE_H
#define ISOSCOPE_TIMELINE_TABLE_H

#include "../rpc/reply_stream.h"
#include "../../sampler/profile/timeline.h"

struct timeline_table_options {
    struct profile *profile;
    const char *envelope; /* the reply's text before the value of "result" */
    uint64_t count_max;   /* as the window had it: reaching it says that there may be more */
};

/* Takes over timeline, also when it fails: -ISOSCOPE_NO_MEMORY. */
int timeline_table_new(struct reply_stream **out, struct timeline *timeline,
                       const struct timeline_table_options *options);

#endif
