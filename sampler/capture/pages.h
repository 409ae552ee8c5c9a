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

#include "../feed/sys.h"

#include <stddef.h>
#include <sys/mman.h>

enum { PAGE_BYTES = 4096 };

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

/* Gives the memory back but keeps the addresses: the pages read as zeros again. */
static inline void pages_forget(void *pages, size_t bytes)
{
    if (pages)
        sys_call3(SYS_madvise, pages, bytes, MADV_DONTNEED);
}

#endif
