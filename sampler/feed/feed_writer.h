/*
 * feed_writer.h - the program's side of a feed: making the memory, and finding things in it.
 *
 *   capture -> feed (header, tables, names, rings) -> feed_reader.h in the service
 *
 * Ownership  feed_writer_create fills a struct the caller owns; feed_writer_destroy takes the
 *            memory away. The memfd is the caller's to close, at best as soon as it has been sent.
 * Threads    Modules are written by one thread at a time. Names are added and thread slots
 *            claimed by any, without locks.
 * Signals    What is marked is SIGNAL_SAFE. Nothing here uses libc beyond memory and strings.
 * Errors     0 or -ISOSCOPE_SYSTEM, -ISOSCOPE_NO_MEMORY.
 */
#ifndef ISOSCOPE_FEED_WRITER_H
#define ISOSCOPE_FEED_WRITER_H

#include "layout.h"
#include "part.h"
#include "ring.h"

#include <stdatomic.h>
#include <stdint.h>

struct feed_writer {
    struct feed_header *header;
    struct feed_thread *threads;
    struct feed_loop *loops;
    struct feed_module *modules;
    _Atomic uint32_t *name_index; /* by hash: places in names; 0: free */
    char *names;
    const struct feed_runtime *runtimes;
    struct part rings, event_rings;
    struct part codes;    /* their index, then they; no bytes: there is no room for them */
    uint64_t start_bytes; /* mapped from the start, in one piece */
};

/* Makes, seals and maps a feed; *memfd gets its descriptor. It takes as many thread slots as
 * the address space limit (ulimit -v) allows, FEED_THREADS_MAX at most. Mapped are the first two
 * rings and what stands before them, in one piece, for starts are many: less than 3 MiB. */
SIGNAL_SAFE int feed_writer_create(struct feed_writer *out, int *memfd, int32_t pid,
                                   int64_t start_us);
SIGNAL_SAFE void feed_writer_destroy(struct feed_writer *writer);
/* The service's view, for what it writes itself: base is all of it, mapped, and layout a checked
 * copy of its head. False: it is laid out in another way. Nothing is to be destroyed. */
bool feed_writer_over(struct feed_writer *out, void *base, const struct feed_header *layout);

/* Claims a free slot for a thread, with a ring; 0 (the sampler's own slot) when there is none, or
 * no address space for its ring. */
SIGNAL_SAFE uint32_t feed_writer_thread_claim(struct feed_writer *writer, int32_t tid,
                                              int64_t start_us);
/* The same for that slot, of a feed that nobody else uses. */
SIGNAL_SAFE bool feed_writer_thread_claim_slot(struct feed_writer *writer, uint32_t slot,
                                               int32_t tid, int64_t start_us);
/* Gives it back before anybody has seen it. */
SIGNAL_SAFE void feed_writer_thread_unclaim(struct feed_writer *writer, uint32_t slot);
/* The thread's own stack, for who walks it from outside; before it is published, or once later. */
SIGNAL_SAFE void feed_writer_thread_stack(struct feed_writer *writer, uint32_t slot, uint64_t low,
                                          uint64_t high, uint64_t root);
/* The slot is filled in: the reader may look. */
SIGNAL_SAFE void feed_writer_thread_publish(struct feed_writer *writer, uint32_t slot);
SIGNAL_SAFE void feed_writer_thread_end(struct feed_writer *writer, uint32_t slot);
/* Its name is its own, and not the kernel's. */
SIGNAL_SAFE void feed_writer_thread_named(struct feed_writer *writer, uint32_t slot);
/* name: 16 bytes, as the kernel keeps it. */
SIGNAL_SAFE void feed_writer_thread_name(struct feed_writer *writer, uint32_t slot,
                                         const char name[16]);

/* Frames that a sample may have now. The service may change it at any time: ask once a sample. */
SIGNAL_SAFE_INLINE uint32_t feed_writer_depth_max(const struct feed_writer *writer)
{
    uint32_t asked = atomic_load_explicit(&writer->header->control.depth_max, memory_order_relaxed);

    return asked >= FEED_DEPTH_MIN && asked <= FEED_DEPTH_MAX ? asked : FEED_DEPTH_DEFAULT;
}

/* For a writer that nothing interrupts to write there too; else its busy is to be filled in. */
SIGNAL_SAFE void feed_writer_ring(const struct feed_writer *writer, uint32_t slot,
                                  struct ring_writer *out);

/* The name's place in names, where it is put if it is new; at most FEED_NAME_MAX bytes of it are
 * kept. 0 when it is empty, or when there is no room, which is counted. */
SIGNAL_SAFE uint32_t feed_writer_name(struct feed_writer *writer, const char *name);

/* The entry of a module; NULL: it was not added. */
SIGNAL_SAFE struct feed_module *feed_writer_module(const struct feed_writer *writer,
                                                   uint32_t number);
/* Appends a module; module->path_offset is filled in here. 0 when the table or the names are full.
 */
SIGNAL_SAFE uint32_t feed_writer_module_add(struct feed_writer *writer,
                                            const struct feed_module *module, const char *path);

#endif
