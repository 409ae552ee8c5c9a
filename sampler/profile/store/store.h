/*
 * store.h - the samples of a profile, in the order they came, within a bound.
 *
 *   collector -> store_add -> chunks, oldest first -> store_views -> snapshot
 *
 * One store for all processes: what they share (frames of the same libraries, a chunk's half-used
 * pages) is there once. When it is full, the oldest samples go first of the processes that have more
 * than their share (store_fair.h).
 *
 * Units      *_us: CLOCK_MONOTONIC microseconds.
 * Ownership  store_views lends nothing: each view holds its chunk until store_views_free.
 * Threads    Any; one lock. Readers of views need none.
 * Archives   Chunks of a session (chunk.h) are loaded when they are looked at. Of those that nobody
 *            holds, the ones looked at last stay in memory, up to the bound.
 * Errors     0 or -ISOSCOPE_NO_MEMORY. A full store is no error: its oldest chunk goes, and the
 *            samples in it are counted as evicted.
 */
#ifndef ISOSCOPE_STORE_H
#define ISOSCOPE_STORE_H

#include "../snapshot.h"
#include "chunk.h"

struct store;

enum { STORE_BYTES_MIN = 512 * 1024, STORE_BYTES_DEFAULT = 64 * 1024 * 1024 };

struct owner_counts {
    uint64_t samples, evicted;
};

/* bytes_max: 0 for the default; at least STORE_BYTES_MIN is used. Chunks of two kinds never have the
 * same serial. */
int store_new(struct store **out, size_t bytes_max, enum sample_kind kind);
void store_free(struct store *store); /* NULL is fine */

/* One that is in an archive: it is never let go, and its samples are counted, as states says of each
 * source; OWNER_STATES numbers a source. Takes over what chunk_archived does, also on failure. */
int store_add_archived(struct store *store, struct chunk *outline, const uint32_t *states);

/* At best in the order of time; a little disorder is fine. */
int store_add(struct store *store, const struct store_sample *sample);
/* For all samples of the thread, also those already here. */
void store_rename(struct store *store, struct owner_thread *thread, const char *name);
/* Forgets what is there of the owner. */
void store_clear(struct store *store, struct owner *owner);

/* Of those of its threads that have the tid. */
void store_clear_thread(struct store *store, struct owner *owner, int32_t tid);

/* The owner's threads that have samples here, the newest first. Fills at most capacity, where those
 * of one tid are one. Returns how many; capacity + 1: there are more, at which it does not look. */
size_t store_threads(struct store *store, const struct owner *owner, struct profile_thread *out,
                     size_t capacity);

/* The owner's samples by state; tid 0: of every thread. */
void store_states(struct store *store, const struct owner *owner, int32_t tid,
                  uint64_t counts[OWNER_STATES]);

/* While it stands, the store's counts and threads are what they were. It only grows. */
uint64_t store_version(struct store *store);
struct owner_counts store_counts(struct store *store, const struct owner *owner);
/* The memory of samples, trees and indexes. */
size_t store_bytes(struct store *store);
/* That, and of which time the samples are. */
struct profile_history store_history(struct store *store);

/* A thread with a tag, as the chunk knew them when it was asked. */
struct view_source {
    uint64_t process_id;
    int32_t tid;
    uint32_t tag; /* names.h; 0: none */
    char name[16];
    uint32_t first_visible; /* samples before this one were cleared; UINT32_MAX: not asked for */
    uint32_t last;          /* its last sample */
};

/* A chunk, and how much of it was there when it was asked. */
struct store_view {
    struct store *store; /* whose it is */
    struct chunk *chunk;
    uint32_t sample_count, node_count, frame_count, source_count;
    int64_t min_us, max_us;
    struct view_source *sources; /* by chunk_sample.source */
};

/* Which chunks, and whose samples. */
struct store_ask {
    uint64_t process_id;       /* 0: of every process */
    uint64_t serial_min;       /* chunks that are older are left out */
    int64_t first_us, last_us; /* so are those without a sample of that time; both belong to it */
};

#define STORE_ASK_ALL ((struct store_ask){ .first_us = INT64_MIN, .last_us = INT64_MAX })

/* What changes behind a reader's back; both only grow. */
struct store_changes {
    uint32_t renames, clears;
};

/* Brings the view's samples, nodes and frames into memory, where they stay while the view holds
 * them. 0: they are there; else as chunk_load. Before them nobody looks at them; the rest of a view
 * needs no loading. */
int store_load(const struct store_view *view);

/* Oldest first. changes, as of the same moment, may be NULL. */
int store_views(struct store *store, const struct store_ask *ask, struct store_view **out,
                uint32_t *count, struct store_changes *changes);
void store_views_free(struct store_view *views, uint32_t count); /* NULL is fine */

#endif
