/*
 * event_store.h - the events of a profile, in the order they came, within a bound.
 *
 *   intake/drain_events -> event_store (pairs begin and end) -> chunks, oldest first -> view/timeline
 *
 * One store for all processes. A slice is stored when it ends; what stands open is kept by its thread's
 * track, and not counted in the bound: at most TRACK_DEPTH_MAX a thread.
 *
 * Units      *_ns: CLOCK_MONOTONIC nanoseconds.
 * Ownership  Tracks are the store's, until event_store_end_track. event_store_views lends nothing: each
 *            view holds its chunk until event_views_free.
 * Threads    Any; one lock. Readers of views need none.
 * Archives   Chunks of a session are loaded when they are looked at. Of those that nobody holds, the
 *            ones looked at last stay in memory, up to the bound.
 * Errors     0 or -ISOSCOPE_NO_MEMORY; then the event is counted as unstored. A full store is no error:
 *            its oldest chunk goes, and the events in it are counted as evicted.
 */
#ifndef ISOSCOPE_EVENT_STORE_H
#define ISOSCOPE_EVENT_STORE_H

#include "event_chunk.h"
#include "track.h"

struct event_store;

enum {
    EVENT_STORE_BYTES_MIN = 512 * 1024,
    EVENT_STORE_BYTES_DEFAULT = 64 * 1024 * 1024,
};

int event_store_new(struct event_store **out, size_t bytes_max); /* 0: the default */
void event_store_free(struct event_store *store);                /* NULL is fine */

int event_store_track(struct event_store *store, struct owner *owner, int32_t tid, const char *name,
                      struct track **out);
/* Its thread has no more to tell: what it had begun is cut off there. */
void event_store_end_track(struct event_store *store, struct track *track, int64_t at_ns);
void event_store_rename(struct event_store *store, struct owner_thread *thread, const char *name);
/* What is not a slice, or is one at once. */
int event_store_put(struct event_store *store, struct track *track, const struct event *event);
/* Its start, name, stream and arguments. */
int event_store_begin(struct event_store *store, struct track *track, const struct event *begin);
/* Its start is when the slice ends that was begun last in its stream. What stands open inside that one
 * is cut off: its stream was switched off meanwhile. */
int event_store_end(struct event_store *store, struct track *track, const struct event *end);
/* Events of the thread were lost, and with them so many ends of slices that stood open, and so many
 * begins of slices that stand open now. */
int event_store_lost(struct event_store *store, struct track *track, int64_t at_ns, uint32_t ended,
                     uint32_t begun);

/* An event found no memory before it came here. */
void event_store_refuse(struct event_store *store);

/* Forgets what is there of the owner, but for what stands open. */
void event_store_clear(struct event_store *store, struct owner *owner);
/* The owner is to be forgotten, and what is there of it is not shown any more. Who follows keeps it. */
void event_store_forget(struct event_store *store, struct owner *owner);
/* It has events of the owner. */
bool event_store_has(struct event_store *store, const struct owner *owner);
/* Without what programs lost. */
struct timeline_history event_store_history(struct event_store *store);
/* What a session's store had missed: added to what is missed here. */
void event_store_restore(struct event_store *store, const struct timeline_history *missed);

/* One that is in an archive: it is never let go. Takes over what event_chunk_archived does, also on
 * failure; counts: events of each source. */
int event_store_add_archived(struct event_store *store, struct event_chunk *outline,
                             const uint32_t *counts);
struct event_view_source {
    uint64_t process_id;
    int32_t tid;
    char name[16];
    uint32_t first_visible; /* events before this one were cleared; UINT32_MAX: not asked for */
};

/* A chunk, and how much of it was there when it was asked. */
struct event_view {
    struct event_store *store;
    struct event_chunk *chunk;
    uint32_t count, source_count;
    struct event_view_source *sources; /* by event_entry.source */
};

/* A slice that stands open, with words of its own. */
struct event_open {
    uint64_t process_id;
    int32_t tid;
    char thread_name[16];
    uint32_t depth;
    struct event slice;           /* without a duration */
    struct event_argument *words; /* from malloc */
    struct owner_thread *thread;  /* held */
};

struct event_ask {
    uint64_t process_id;       /* 0: of every process */
    int32_t tid;               /* of that process; 0: every thread */
    uint64_t serial_min;       /* chunks that are older are left out */
    int64_t first_ns, last_ns; /* so are those without an event of that time */
    bool open;                 /* what stands open, too */
};

#define EVENT_ASK_ALL ((struct event_ask){ .first_ns = INT64_MIN, .last_ns = INT64_MAX })

struct event_views {
    struct event_view *views; /* oldest first */
    uint32_t count;
    struct event_open *open;
    uint32_t open_count;
    bool has_oldest; /* serial_min is the number of a chunk that is there */
    uint64_t end;    /* the number that the next chunk will have */
    uint32_t clears; /* so far */
};

int event_store_views(struct event_store *store, const struct event_ask *ask,
                      struct event_views *out);
void event_views_free(struct event_views *views); /* zeros are fine */
/* Brings the view's events into memory, where they stay while the view holds them. 0, or as
 * event_chunk_load. Before it nobody looks at them. */
int event_view_load(const struct event_view *view);

#endif
