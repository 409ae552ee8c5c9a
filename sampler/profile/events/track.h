/*
 * track.h - the slices of one thread that stand open, as a stack.
 *
 *   event_store (begins and ends come in) -> track -> event_store (slices go out)
 *
 * Units      *_ns: CLOCK_MONOTONIC nanoseconds.
 * Ownership  A track holds its thread. Words with a key are the process': a track ends before it does.
 * Threads    The store's lock.
 * Errors     False: no memory.
 */
#ifndef ISOSCOPE_TRACK_H
#define ISOSCOPE_TRACK_H

#include "../store/owner.h"
#include "event.h"

/* What is begun inside of so many is counted, and not kept. */
enum { TRACK_DEPTH_MAX = 4096 };

struct open_slice {
    int64_t start_ns;
    struct event_word name, stream;
    struct event_argument *arguments; /* from malloc */
    uint32_t argument_count;
    bool unseen; /* its begin was lost: nothing is known of it */
};

struct track {
    struct owner_thread *thread;
    struct open_slice *open; /* the outermost first */
    uint32_t open_count, open_capacity;
    uint64_t beyond;            /* that were begun inside of TRACK_DEPTH_MAX */
    struct track *next, **link; /* of the store */
    /* Where the store's newest chunk has it, with the stream that it last had. */
    uint64_t chunk_serial, stream_key;
    uint16_t source;
};

int track_new(struct track **out, struct owner *owner, int32_t tid, const char *name);
void track_free(struct track *track); /* NULL is fine; it is linked nowhere */
/* Out of the store's list; with its lock. */
void track_unlink(struct track *track);

/* The arguments are copied. begin NULL: it began unseen. */
bool track_push(struct track *track, const struct event *begin);
/* The slice that was begun last, as it is with the arguments of its end (NULL: it has none), which lives
 * until the next call. There is one. */
void track_top(struct track *track, const struct event *end, struct event *out);
bool track_top_unseen(const struct track *track);
void track_pop(struct track *track);
/* How many open slices are inside the one that was begun last in that stream; one that began unseen may
 * be of any. UINT32_MAX: there is none. */
uint32_t track_inside(const struct track *track, const struct event_word *stream);

#endif
