#include "perf_ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGES_LEAST = 16, RECORD_MAX = 1 << 16 };

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

int perf_ring_open(struct perf_ring *ring, int fd, size_t pages_max)
{
    int problem = ENOMEM;

    *ring = (struct perf_ring){ .wrapped = malloc(RECORD_MAX) };
    if (!ring->wrapped)
        return ENOMEM;
    for (size_t pages = pages_max; pages >= PAGES_LEAST; pages /= 2) {
        void *memory =
            mmap(NULL, (pages + 1) * page_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

        if (memory != MAP_FAILED) {
            ring->head_page = memory;
            ring->bytes = pages * page_bytes();
            return 0;
        }
        /* EPERM: an ordinary user may lock so much memory only. */
        problem = errno == EPERM ? ENOBUFS : errno;
        if (problem != ENOBUFS && problem != ENOMEM)
            break;
    }
    free(ring->wrapped);
    ring->wrapped = NULL;
    return problem;
}

void perf_ring_close(struct perf_ring *ring)
{
    if (ring->head_page)
        munmap(ring->head_page, ring->bytes + page_bytes());
    free(ring->wrapped);
    *ring = (struct perf_ring){ 0 };
}

void perf_ring_begin(struct perf_ring *ring)
{
    ring->at = ring->head_page->data_tail;
    ring->end = __atomic_load_n(&ring->head_page->data_head, __ATOMIC_ACQUIRE);
}

const struct perf_event_header *perf_ring_next(struct perf_ring *ring)
{
    const uint8_t *data = (const uint8_t *)ring->head_page + page_bytes();
    size_t place = ring->at & (ring->bytes - 1), before_end = ring->bytes - place;
    const struct perf_event_header *head = (const struct perf_event_header *)(data + place);

    /* Sizes are multiples of 8: a head never goes over the end. */
    if (ring->end - ring->at < sizeof(*head) || head->size < sizeof(*head) ||
        head->size > ring->end - ring->at) {
        ring->at = ring->end;
        return NULL;
    }
    ring->at += head->size;
    if (head->size <= before_end)
        return head;
    memcpy(ring->wrapped, data + place, before_end);
    memcpy(ring->wrapped + before_end, data, head->size - before_end);
    return (const struct perf_event_header *)ring->wrapped;
}

void perf_ring_release(struct perf_ring *ring)
{
    __atomic_store_n(&ring->head_page->data_tail, ring->at, __ATOMIC_RELEASE);
}
