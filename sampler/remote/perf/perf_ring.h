/*
 * perf_ring.h - the kernel's records of one processor, in memory that it shares with us.
 *
 * Ownership  perf_ring_close unmaps. Records belong to the ring until perf_ring_release.
 * Threads    One at a time.
 * Source     perf_event_open(2), "MMAP layout".
 */
#ifndef ISOSCOPE_PERF_RING_H
#define ISOSCOPE_PERF_RING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_ring {
    struct perf_event_mmap_page *head_page; /* NULL: it is not open */
    size_t bytes;                           /* of data: a power of two */
    uint64_t at, end;                       /* of what was there at perf_ring_begin */
    uint8_t *wrapped;                       /* the record that goes over the end */
};

/* Of an event; with as much memory as the kernel gives, pages_max at most. Returns 0, or an errno;
 * ENOBUFS: this user may lock no such memory. */
int perf_ring_open(struct perf_ring *ring, int fd, size_t pages_max);
void perf_ring_close(struct perf_ring *ring);
void perf_ring_begin(struct perf_ring *ring);
/* NULL: there is no more of what was there. */
const struct perf_event_header *perf_ring_next(struct perf_ring *ring);
/* The kernel may have the room of all that was read. */
void perf_ring_release(struct perf_ring *ring);

#endif
