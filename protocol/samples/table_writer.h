/*
 * table_writer.h - what is new for a follower, on its way out as a _CpuSamplesTable, piece by
 * piece.
 *
 *   follow.h -> lists of numbers, one entry at a time -> carry -> buffers of any size
 *
 * Ownership  The writer owns the struct follow and copies the rest of its options.
 * Threads    The service thread.
 */
#ifndef ISOSCOPE_TABLE_WRITER_H
#define ISOSCOPE_TABLE_WRITER_H

#include "../rpc/reply_stream.h"
#include "../../sampler/profile/follow.h"

struct table_options {
    const char *envelope; /* the reply's text before the value of "result"; "}" is put behind */
    const char *counters; /* JSON of "_counters" */
    int32_t pid;
    uint32_t period_us, depth_max;
    bool tells_progress; /* of what symbols says: names may be missing */
    enum sample_kind kind;
    struct profile_symbols symbols;
};

/* Takes over follow, also when it fails: -ISOSCOPE_NO_MEMORY. */
int table_writer_new(struct reply_stream **out, struct follow *follow,
                     const struct table_options *options);

#endif
