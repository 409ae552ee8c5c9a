/*
 * pages.h - memory for the sampler: straight from the kernel, never from malloc.
 *
 * The program may have its own malloc, hold its locks when we look, or count what it gives out.
 *
 * Ownership  What pages_new gives is the caller's; pages_free wants the same size back.
 * Signals    pages_new and pages_free are SIGNAL_SAFE.
 * Errors     NULL when the kernel has none. New pages are zero, and cost nothing until touched.
 */
#ifndef ISOSCOPE_PAGES_H
#define ISOSCOPE_PAGES_H

#include "../../feed/own_area.h"
#include "../../feed/sys.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/mman.h>

enum { PAGES_ERRNO_MAX = 4095 };

SIGNAL_SAFE_INLINE bool pages_failed(long address)
{
    return address < 0 && address >= -PAGES_ERRNO_MAX;
}

SIGNAL_SAFE_INLINE void *pages_new(size_t bytes)
{
    long at = (long)own_area_take(bytes);

    if (!at)
        at = sys_call6(SYS_mmap, own_area_next(bytes), (long)bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return pages_failed(at) ? NULL : (void *)at;
}

/* Gives the memory back, whole pages of it, but keeps the addresses: they read as zeros again. */
SIGNAL_SAFE_INLINE void pages_forget(void *pages, size_t bytes)
{
    if (pages)
        sys_call3(SYS_madvise, pages, bytes, MADV_DONTNEED);
}

/* No hole in what is in one piece. */
SIGNAL_SAFE_INLINE void pages_free(void *pages, size_t bytes)
{
    if (own_area_took((uint64_t)pages))
        pages_forget(pages, bytes);
    else if (pages)
        sys_call2(SYS_munmap, pages, bytes);
}

/* The same pages, and more behind them, perhaps at another place; NULL: they stay as they are. */
SIGNAL_SAFE_INLINE void *pages_grow(void *pages, size_t bytes, size_t new_bytes)
{
    long at = own_area_remap(pages, bytes, new_bytes);

    return pages_failed(at) ? NULL : (void *)at;
}

/* So many bytes, and the rest of their last page: kernels have pages of 4, 16 or 64 KiB. */
static inline size_t pages_whole(size_t bytes)
{
    size_t page = getauxval(AT_PAGESZ);

    return (bytes + page - 1) / page * page;
}

#endif
