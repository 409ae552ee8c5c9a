/*
 * event_chunk.h - a piece of the store of events: some ten thousand of them, and all words they use.
 *
 *   event_store (appends to the newest) -> event_chunk -> view/timeline (reads any, without a lock)
 *
 * An event is 16 bytes: start, duration (or id), source, name, kind, depth. What few events have (a long
 * time, a large id, arguments) stands apart as words, in the order of the events. Events come in blocks
 * of 64, each with the times that they lie between, so that a window looks at few of them. Words of
 * programs are in the chunk's own list, each once: they go with the chunk.
 *
 * Units      *_ns: CLOCK_MONOTONIC nanoseconds.
 * Ownership  Counted. A chunk holds its threads. The arrays never move.
 * Threads    event_chunk_append: one thread, under the store's lock (of an archived one, while it loads). What was there under that lock may
 *            be read by any thread that holds the chunk, for it never changes; but not the times
 *            of a block that is not full.
 * Errors     0 or -ISOSCOPE_NO_MEMORY; event_chunk_load: what its archive says, too.
 *
 * An archived chunk is full: what it refers to is there, its columns only while somebody looks.
 */
#ifndef ISOSCOPE_EVENT_CHUNK_H
#define ISOSCOPE_EVENT_CHUNK_H

#include "../base/index16.h"
#include "../base/map64.h"
#include "../store/owner.h"
#include "event.h"

enum {
    EVENT_CHUNK_MAX = 65536, /* events, texts */
    EVENT_CHUNK_SOURCES = 16384,
    EVENT_CHUNK_WORDS = 1 << 19,
    EVENT_CHUNK_TEXT_BYTES = 4 << 20,
    EVENT_BLOCK = 64,
    EVENT_TEXT_MAX = FEED_EVENT_TEXT_MAX, /* bytes of a text; the rest is cut off */
};

struct event_entry {
    uint32_t start_low; /* of 48 bits: nanoseconds since base_ns, signed */
    int16_t start_high;
    uint16_t source;
    uint32_t duration; /* nanoseconds; of a kind without: its id */
    uint16_t name;     /* a text's number; 0: none */
    uint8_t what;      /* EVENT_WHAT */
    uint8_t depth;
};

/* words: more of it stands there. */
#define EVENT_WHAT(kind, mark, complete, words)                                                    \
    ((uint8_t)((kind) | (mark) << 4 | (complete) << 6 | (words) << 7))
#define EVENT_KIND(what)     ((enum timeline_kind)((what)&15))
#define EVENT_MARK(what)     ((enum timeline_mark)((what) >> 4 & 3))
#define EVENT_COMPLETE(what) ((what) >> 6 & 1)
#define EVENT_WORDS(what)    ((what) >> 7)

struct event_block {
    int64_t first_ns, last_ns; /* from the first start to the last end */
    uint32_t words;            /* where those of its first event begin */
};

/* A thread's events of one stream. */
struct event_source {
    struct owner_thread *thread; /* held */
    uint16_t stream;             /* a text's number */
};

struct event_chunk;

/* Where the columns of chunks are that are not in memory. */
struct event_archive {
    /* Appends all of its events, as many as the chunk says. One at a time. 0 or a negative
     * isoscope_error. */
    int (*load)(void *context, uint32_t number, struct event_chunk *chunk);
    void *context;
};

struct event_chunk {
    _Atomic uint32_t references;
    uint64_t serial;         /* grows from chunk to chunk of a store; never 0 */
    uint64_t first_sequence; /* of its first event */
    int64_t base_ns;
    int64_t first_ns, last_ns;    /* store lock: as a block's, of all */
    uint32_t count, source_count; /* store lock */
    /* The columns, and how far they are filled. */
    uint32_t filled, word_count, text_count, text_bytes;
    struct event_entry *entries;
    struct event_block *blocks;
    uint64_t *words;
    uint32_t *texts; /* by number: where it begins */
    char *text;      /* each with a zero behind it; number 0 is "" */
    struct event_source *sources;
    const struct event_archive *archive; /* NULL: it has all of it all the time */
    uint32_t archive_number;
    uint64_t looked_at; /* store's loading lock: when, as it counts; 0: it is not in memory */
};

/* Finds texts and sources of the chunk being filled. A full chunk needs none. */
struct event_index {
    struct index16 texts;
    struct map64 keys;    /* event_word's key -> text's number + 1 */
    struct map64 sources; /* thread's serial and text's number -> source + 1 */
};

/* Where it is filed. */
struct event_filing {
    uint16_t source;
    enum timeline_mark mark;
    uint32_t depth;
};

int event_chunk_new(struct event_chunk **out, uint64_t serial, uint64_t first_sequence,
                    int64_t base_ns);
/* One of an archive: the outline's serial, first_sequence, times, counts and archive are kept; its
 * sources (from malloc), which are taken over, are held. */
int event_chunk_archived(struct event_chunk **out, const struct event_chunk *outline);
/* Of an archived one; nobody looks at it. */
int event_chunk_load(struct event_chunk *chunk);
void event_chunk_unload(struct event_chunk *chunk);
struct event_chunk *event_chunk_hold(struct event_chunk *chunk);
void event_chunk_release(struct event_chunk *chunk); /* NULL is fine */
/* The memory it takes: the pages it has touched. */
size_t event_chunk_bytes(const struct event_chunk *chunk);

/* False: the event belongs into a new chunk. */
bool event_chunk_fits(const struct event_chunk *chunk);
/* Only when it fits. */
int event_chunk_source(struct event_chunk *chunk, struct event_index *index,
                       struct owner_thread *thread, const struct event_word *stream, uint16_t *out);
/* Of an archived one, while it loads: what stream a source's events are of. */
int event_chunk_stream(struct event_chunk *chunk, struct event_index *index, uint32_t source,
                       const struct event_word *stream);
/* Into the columns; the store counts it. */
int event_chunk_append(struct event_chunk *chunk, struct event_index *index,
                       const struct event *event, const struct event_filing *filing);

void event_index_free(struct event_index *index); /* it is empty then */
size_t event_index_bytes(const struct event_index *index);

static inline const char *event_chunk_text(const struct event_chunk *chunk, uint16_t number)
{
    return chunk->text + chunk->texts[number];
}

#endif
