/*
 * chunk.h - a piece of the store: some ten thousand samples, and all they refer to.
 *
 *   store (appends to the newest) -> chunk -> snapshot (reads any, without a lock)
 *
 * A sample is 16 bytes: time, weight, thread, leaf, and the node of its caller in a tree of the
 * chunk's own. Thread and tag are one number, of a source: few of all pairs ever meet. A node is 4
 * bytes: it and the frames are numbered with 16 bits, which is what bounds a chunk. The leaf is
 * kept apart from the tree because it is the part that varies: two thirds of distinct stacks differ
 * in nothing else.
 *
 * Units      time: microseconds since base_us. weight: of time 100 ns, of memory bytes. objects: parts,
 *            CHUNK_OBJECT_PARTS of one; waits: CHUNK_WAIT. frame: FRAME_KEY.
 * Ownership  Counted. A chunk holds its threads. The arrays never move.
 * Threads    chunk_append: one thread, under the store's lock. What was there under that lock may
 *            be read by any thread that holds the chunk, for it never changes.
 * Errors     0 or -ISOSCOPE_NO_MEMORY; chunk_load: what its archive says, too.
 *
 * An archived chunk is full: what it refers to is there, its columns only while somebody looks.
 */
#ifndef ISOSCOPE_CHUNK_H
#define ISOSCOPE_CHUNK_H

#include "../base/index16.h"
#include "../snapshot.h"
#include "frame.h"
#include "owner.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CHUNK_ENTRIES_MAX = 65536, CHUNK_OBJECT_PARTS = 256 };

/* The kernel's numbers of threads have 22 bits. */
#define CHUNK_WAIT(wait)        ((uint32_t)(wait).what << 24 | ((uint32_t)(wait).holder & 0xffffff))
#define CHUNK_WAIT_HOLDER(word) ((int32_t)((word)&0xffffff))
#define CHUNK_WAIT_WHAT(word)   ((uint8_t)((word) >> 24))

/* What the weight of a kind's samples counts: these of its unit. */
static inline uint32_t chunk_weight_unit(enum sample_kind kind)
{
    return sample_kind_is_memory(kind) || kind == SAMPLES_OF_FAULTS ? 1 : 100;
}

/* A sample on its way into the store. */
struct store_sample {
    enum sample_kind kind;       /* whose store it belongs to */
    struct owner_thread *thread; /* as that store knows it */
    int64_t timestamp_us;        /* not negative */
    uint64_t weight;             /* that it stands for: nanoseconds of CPU time; bytes; ns waited */
    uint32_t objects;            /* of sample_kind_is_many: so many, in CHUNK_OBJECT_PARTS */
    struct sample_wait wait;
    uint8_t end, state;     /* below 16 */
    uint32_t tag;           /* names.h; 0: none */
    uint32_t depth;         /* 1 to FEED_DEPTH_MAX */
    const uint64_t *frames; /* leaf first, FRAME_KEY */
};

struct chunk_sample {
    uint32_t time;
    uint32_t weight;
    uint16_t source;
    uint16_t caller; /* node; 0: the leaf has no caller */
    uint16_t leaf;   /* frame */
    uint8_t end, state;
};

struct chunk_node {
    uint16_t parent; /* node; smaller than this one's number; 0: the thread's first frame */
    uint16_t frame;
};

/* A thread while a tag was in force. */
struct chunk_source {
    struct owner_thread *thread; /* held */
    uint32_t tag;
    uint16_t next; /* store lock: another source of the thread, of those that follow last used; its
                    * own number: there is none */
    uint16_t last; /* store lock: its last sample */
};

struct chunk;

/* Where the samples, nodes and frames of chunks are that are not in memory. */
struct chunk_archive {
    /* Fills them in, as many as the chunk says. One at a time. 0 or a negative isoscope_error. */
    int (*load)(void *context, uint32_t number, struct chunk *chunk);
    void *context;
};

struct chunk {
    _Atomic uint32_t references;
    uint64_t made_of;        /* it was made anew, of chunks from this serial on; 0: it was not */
    uint64_t serial;         /* grows from chunk to chunk of a store; never 0 */
    uint64_t first_sequence; /* of samples[0] */
    int64_t base_us;
    int64_t min_us, max_us;                                       /* store lock */
    uint32_t sample_count, node_count, frame_count, source_count; /* store lock */
    struct chunk_sample *samples;
    struct chunk_node *nodes; /* [0] stands for "no caller" */
    uint64_t *frames;         /* [0] is not used */
    struct chunk_source *sources;
    uint32_t *objects; /* by sample, in kinds that are many */
    uint32_t *waits;   /* by sample, in kinds of waits */
    enum sample_kind kind;
    const struct chunk_archive *archive; /* NULL: it is not archived, and has them all the time */
    uint32_t archive_number;
    uint64_t looked_at; /* store's loading lock: when, as it counts; 0: they are not in memory */
};

/* Finds the nodes and frames of the chunk being filled. A full chunk needs none, so the store has
 * one. */
struct chunk_index {
    struct index16 nodes, frames;
};

int chunk_new(struct chunk **out, enum sample_kind kind, uint64_t serial, uint64_t first_sequence,
              int64_t first_us);
/* One of an archive: the outline's serial, first_sequence, times, counts and archive are kept, and
 * its sources (from malloc, but for next), which are taken over, are held. */
int chunk_archived(struct chunk **out, const struct chunk *outline);
/* Of an archived one; nobody looks at it. */
int chunk_load(struct chunk *chunk);
void chunk_unload(struct chunk *chunk);
struct chunk *chunk_hold(struct chunk *chunk);
void chunk_release(struct chunk *chunk); /* NULL is fine */

/* False: the sample belongs into a new chunk. */
bool chunk_fits(const struct chunk *chunk, const struct store_sample *sample);
/* Only when it fits. */
int chunk_append(struct chunk *chunk, struct chunk_index *index, const struct store_sample *sample);
/* The memory it takes: the pages it has touched, and its share of the threads. */
size_t chunk_bytes(const struct chunk *chunk);

void chunk_index_reset(struct chunk_index *index);
void chunk_index_free(struct chunk_index *index);
size_t chunk_index_bytes(const struct chunk_index *index);

static inline int64_t chunk_sample_us(const struct chunk *chunk, uint32_t number)
{
    return chunk->base_us + chunk->samples[number].time;
}

static inline uint64_t chunk_sample_weight(const struct chunk *chunk, uint32_t number)
{
    return (uint64_t)chunk->samples[number].weight * chunk_weight_unit(chunk->kind);
}

/* In CHUNK_OBJECT_PARTS. */
static inline uint32_t chunk_sample_objects(const struct chunk *chunk, uint32_t number)
{
    return sample_kind_is_many(chunk->kind) ? chunk->objects[number] : 0;
}

static inline struct sample_wait chunk_sample_wait(const struct chunk *chunk, uint32_t number)
{
    uint32_t word = sample_kind_is_waits(chunk->kind) ? chunk->waits[number] : 0;

    return (struct sample_wait){ CHUNK_WAIT_HOLDER(word), CHUNK_WAIT_WHAT(word) };
}

#endif
