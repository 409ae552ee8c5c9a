/*
 * pages.h - memory for the sampler's own thread: straight from the kernel, never from malloc.
 *
 * The program may have its own malloc, hold its locks when we look, or count what it gives out.
 *
 * Ownership  What pages_new gives is the caller's; pages_free wants the same size back.
 * Errors     NULL when the kernel has none. New pages are zero, and cost nothing until touched.
 */
#ifndef ISOSCOPE_PAGES_H
#define ISOSCOPE_PAGES_H

#include "../../feed/sys.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

enum { PAGE_BYTES = 4096, HUGE_PAGE_BYTES = 2 << 20 };

static inline void *pages_new(size_t bytes)
{
    long at = sys_call6(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return at < 0 && at > -PAGE_BYTES ? NULL : (void *)at;
}

static inline void pages_free(void *pages, size_t bytes)
{
    if (pages)
        sys_call2(SYS_munmap, pages, bytes);
}

/* What a handler looks through here and there: in huge pages, as far as it fills them and the
 * kernel has them: a seventh of a walk's time went into finding small ones (cc1plus, in a virtual
 * machine). pages_free takes it back as any other. */
static inline void *pages_new_huge(size_t bytes)
{
    size_t room = bytes + HUGE_PAGE_BYTES;
    uintptr_t at, aligned, end;

    if (bytes < HUGE_PAGE_BYTES)
        return pages_new(bytes);
    at = (uintptr_t)pages_new(room);
    if (!at)
        return NULL;
    aligned = (at + HUGE_PAGE_BYTES - 1) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
    end = (aligned + bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    if (aligned > at)
        pages_free((void *)at, aligned - at);
    if (at + room > end)
        pages_free((void *)end, at + room - end);
    sys_call3(SYS_madvise, (long)aligned, (long)(bytes / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES),
              MADV_HUGEPAGE);
    return (void *)aligned;
}

/* Gives the memory back but keeps the addresses: the pages read as zeros again. */
static inline void pages_forget(void *pages, size_t bytes)
{
    if (pages)
        sys_call3(SYS_madvise, pages, bytes, MADV_DONTNEED);
}

#endif
