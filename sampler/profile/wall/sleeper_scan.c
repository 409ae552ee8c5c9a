#include "sleeper_scan.h"

#include <stdatomic.h>
#include <stdlib.h>

static uint32_t wants_of(const struct feed_writer *writer)
{
    return atomic_load_explicit(&writer->header->control.wants, memory_order_relaxed);
}

struct sleeper_scan *sleeper_scan_of(struct sleeper_scan **scan, struct feed_writer *writer)
{
    if (!runtimes_used(writer) || !(wants_of(writer) & FEED_WANT_RUNTIMES))
        return NULL;
    if (!*scan)
        *scan = calloc(1, sizeof(**scan));
    if (*scan)
        (*scan)->scan.writer = writer;
    return *scan;
}

void sleeper_scan_free(struct sleeper_scan *scan)
{
    free(scan);
}

struct runtime_scan *sleeper_scan_begin(struct sleeper_scan *all, int32_t pid, uint32_t slot)
{
    struct runtime_scan *scan = all ? &all->scan : NULL;
    const struct feed_thread *thread = scan ? &scan->writer->threads[slot] : NULL;

    if (!scan)
        return NULL;
    scan->cache = &all->cache;
    scan->texts = &all->texts;
    scan->tid = atomic_load_explicit(&thread->tid, memory_order_relaxed);
    scan->thread_pointer = atomic_load_explicit(&thread->thread_pointer, memory_order_relaxed);
    scan->wants = wants_of(scan->writer);
    guarded_memory_begin_other(&scan->memory, pid, &all->copies);
    return runtime_scan_begin(scan) ? scan : NULL;
}
