/*
 * segment.h - the program's side of a feed: making the memory, and finding things in it.
 *
 *   capture -> segment (header, tables, names, rings) -> reader.h in the service
 *
 * Ownership  segment_create fills a struct the caller owns; segment_destroy takes the memory away.
 *            The memfd is the caller's to close, at best as soon as it has been sent.
 * Threads    Modules are written by the sampler's thread alone. Names are added and thread slots
 *            claimed by any, without locks.
 * Signals    What is marked is SIGNAL_SAFE. Nothing here uses libc beyond memory and strings.
 * Errors     0 or -ISOSCOPE_SYSTEM, -ISOSCOPE_NO_MEMORY.
 */
#ifndef ISOSCOPE_SEGMENT_H
#define ISOSCOPE_SEGMENT_H

#include "layout.h"
#include "part.h"
#include "ring.h"

#include <stdatomic.h>
#include <stdint.h>

struct segment {
    struct feed_header *header;
    struct feed_thread *threads;
    _Atomic uint32_t *name_index; /* by hash: places in names; 0: free */
    struct part modules, names, rings;
    uint64_t start_bytes; /* mapped from the start, in one piece */
};

/* Makes, seals and maps a segment; *memfd gets its descriptor. It takes as many thread slots as
 * the address space limit (ulimit -v) allows, FEED_THREADS_MAX at most. Mapped are the first few
 * rings and what stands before them: less than 2 MiB. */
int segment_create(struct segment *out, int *memfd, int32_t pid, int64_t start_us);
void segment_destroy(struct segment *segment);

/* Claims a free slot for a thread, with a ring; 0 (the sampler's own slot) when there is none, or
 * no address space for its ring. */
SIGNAL_SAFE uint32_t segment_thread_claim(struct segment *segment, int32_t tid, int64_t start_us);
/* Gives it back before anybody has seen it. */
SIGNAL_SAFE void segment_thread_unclaim(struct segment *segment, uint32_t slot);
/* The slot is filled in: the reader may look. */
SIGNAL_SAFE void segment_thread_publish(struct segment *segment, uint32_t slot);
void segment_thread_end(struct segment *segment, uint32_t slot);
/* name: 16 bytes, as the kernel keeps it. */
void segment_thread_name(struct segment *segment, uint32_t slot, const char name[16]);

/* Frames that a sample may have now. The service may change it at any time: ask once a sample. */
SIGNAL_SAFE_INLINE uint32_t segment_depth_max(const struct segment *segment)
{
    uint32_t asked =
        atomic_load_explicit(&segment->header->control.depth_max, memory_order_relaxed);

    return asked >= FEED_DEPTH_MIN && asked <= FEED_DEPTH_MAX ? asked : FEED_DEPTH_DEFAULT;
}

SIGNAL_SAFE void segment_ring(const struct segment *segment, uint32_t slot,
                              struct ring_writer *out);

/* The name's place in names, where it is put if it is new; at most FEED_NAME_MAX bytes of it are
 * kept. 0 when it is empty, or when there is no room, which is counted. */
SIGNAL_SAFE uint32_t segment_name(struct segment *segment, const char *name);

/* The entry of a module; NULL: it was not added. */
struct feed_module *segment_module(const struct segment *segment, uint32_t number);
/* Appends a module; module->path_offset is filled in here. 0 when the table or the names are full.
 */
uint32_t segment_module_add(struct segment *segment, const struct feed_module *module,
                            const char *path);

#endif
