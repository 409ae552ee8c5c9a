/*
 * gather.h - all that is known of what a thread did in a window: its own ticks and the looks from outside,
 * merged by time, its tag and the slice that stood open.
 *
 *   snapshot_take (each kind), timeline_take -> gather -> culprit
 *
 * Units      *_ns: CLOCK_MONOTONIC nanoseconds.
 * Ownership  Zeros are an empty one; gather_free ends it. Texts live until then.
 * Errors     0 or -ISOSCOPE_NO_MEMORY.
 */
#ifndef ISOSCOPE_GATHER_H
#define ISOSCOPE_GATHER_H

#include "../timeline.h"
#include "culprit.h"

/* More samples than this are thinned: each second one, each third one, and so on. */
enum { GATHER_SAMPLES_MAX = 65536 };

struct gathered_function {
    const char *name, *library;
    const char *file; /* NULL: not known */
};

struct gathered {
    struct culprit_case facts;
    struct gathered_function *functions;
    struct culprit_frame *frames; /* of all stacks */
    const char **tags;            /* by sample; NULL: it has none */
    bool complete;                /* names and lines are all read */
    struct snapshot *snapshots[SAMPLE_KINDS];
    char slice[256]; /* "": none stood open */
};

struct gather_window {
    uint64_t process_id;
    int32_t tid;
    int64_t first_ns, last_ns;
};

int gather(struct gathered *out, struct profile *profile, const struct gather_window *window);
void gather_free(struct gathered *gathered);
/* The newest slice of the thread that stood open then. Sets out->slice. */
int gather_slice(struct gathered *out, struct profile *profile, const struct gather_window *window);

#endif
