/*
 * perfetto_writer.h - a Perfetto trace on its way out as base64 in a reply.
 *
 *   first packets, events, snapshot -> packets, one entry at a time -> base64 -> carry
 *
 * Stacks are interned: a sample names one that was told before, while it is among the CACHE_SLOTS
 * that are remembered.
 *
 * Ownership  The writer owns the snapshot, the events and the first packets; the rest of the options is copied.
 * Threads    The service thread.
 */
#ifndef ISOSCOPE_PERFETTO_WRITER_H
#define ISOSCOPE_PERFETTO_WRITER_H

#include "../rpc/reply_stream.h"
#include "../timeline/timeline_order.h"
#include "../../sampler/profile/snapshot.h"

struct perfetto_options {
    struct profile *profile;
    const char *before;           /* the reply's text up to the base64; "}} is put behind it */
    struct json_text first;       /* packets before all others: perfetto_clock at least */
    struct timeline_order *order; /* events, with slices in sides; NULL: none */
};

/* snapshot: NULL: no samples. Takes over it, options->first and its order, also when it fails:
 * -ISOSCOPE_NO_MEMORY. */
int perfetto_writer_new(struct reply_stream **out, struct snapshot *snapshot,
                        const struct perfetto_options *options);

#endif
