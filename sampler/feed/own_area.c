#include "own_area.h"

#include "sys.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <sys/mman.h>

enum { ERRNO_MAX = 4095, RESERVE_BYTES = 448 * 1024 };

static _Atomic uint64_t next; /* 0: it has not begun */
static uint64_t page_bytes;   /* of this kernel */
static uint64_t reserve_start, reserve_end;
static _Atomic uint64_t reserve_next;

static SIGNAL_SAFE uint64_t whole_pages(uint64_t bytes)
{
    return (bytes + page_bytes - 1) & ~(page_bytes - 1);
}

void own_area_reserve(void)
{
    long at;

    if (reserve_start)
        return;
    page_bytes = getauxval(AT_PAGESZ);
    at = sys_call6(SYS_mmap, 0, RESERVE_BYTES, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at < 0 && at >= -ERRNO_MAX)
        return;
    reserve_start = (uint64_t)at;
    reserve_end = reserve_start + RESERVE_BYTES;
    atomic_store_explicit(&reserve_next, reserve_start, memory_order_release);
}

uint64_t own_area_take(uint64_t bytes)
{
    uint64_t at = atomic_load_explicit(&reserve_next, memory_order_acquire);

    do {
        if (!at || bytes > RESERVE_BYTES || whole_pages(bytes) > reserve_end - at)
            return 0;
    } while (!atomic_compare_exchange_weak_explicit(&reserve_next, &at, at + whole_pages(bytes),
                                                    memory_order_acquire, memory_order_acquire));
    return at;
}

bool own_area_took(uint64_t address)
{
    return address >= reserve_start && address < reserve_end;
}

/* Libraries lie near the end of the address space, and programs at two thirds of it or at its
 * beginning. */
void own_area_begin(void)
{
    uint64_t middle, none = 0;

    page_bytes = getauxval(AT_PAGESZ);
    middle = (uint64_t)&next / 2 & ~(page_bytes - 1);
    atomic_compare_exchange_strong(&next, &none, middle);
}

/* One behind the other: the kernel makes one area of them, and a fork copies each area. */
uint64_t own_area_next(uint64_t bytes)
{
    if (!atomic_load_explicit(&next, memory_order_acquire))
        return 0;
    return atomic_fetch_add_explicit(&next, whole_pages(bytes), memory_order_relaxed);
}

/* Addresses that nobody else gets, for mremap takes no hint. */
static SIGNAL_SAFE long reserve(uint64_t bytes)
{
    uint64_t hint = own_area_next(bytes);

    return hint ? sys_call6(SYS_mmap, hint, bytes, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                : -1;
}

long own_area_remap(const void *old, uint64_t old_bytes, uint64_t bytes)
{
    long to = reserve(bytes), map;

    if (to < 0 && to >= -ERRNO_MAX)
        return sys_call4(SYS_mremap, old, old_bytes, bytes, MREMAP_MAYMOVE);
    map = sys_call5(SYS_mremap, old, old_bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to);
    if (map < 0 && map >= -ERRNO_MAX)
        sys_call2(SYS_munmap, to, bytes);
    return map;
}
