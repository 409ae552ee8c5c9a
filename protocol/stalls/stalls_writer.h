/*
 * stalls_writer.h - stalls on their way out as _StallList, and the cursor that clients hand back: "next" and "since".
 *
 * Ownership  The writer owns what it is given as stalls. The envelope is copied.
 * Threads    The service thread.
 */
#ifndef ISOSCOPE_STALLS_WRITER_H
#define ISOSCOPE_STALLS_WRITER_H

#include "../rpc/reply_stream.h"
#include "../../sampler/profile/stalls.h"

struct stall_cursor {
    uint64_t change;
    uint32_t clears; /* that the reader knows of */
};

/* False: it is none of ours. */
bool stall_cursor_parse(const char *text, struct stall_cursor *out);

struct stalls_list {
    struct profile *profile;
    struct stalls *stalls;
    uint32_t clears; /* until now */
    bool reset;
    const char *envelope;
};

/* Takes over list->stalls, also when it fails: -ISOSCOPE_NO_MEMORY. */
int stalls_writer_new(struct reply_stream **out, const struct stalls_list *list);

#endif
