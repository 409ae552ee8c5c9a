#include "own_area.h"

#include "sys.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <sys/mman.h>

enum { ERRNO_MAX = 4095 };

static _Atomic uint64_t next; /* 0: it has not begun */
static uint64_t page_bytes;   /* of this kernel */

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
    return atomic_fetch_add_explicit(&next, (bytes + page_bytes - 1) & ~(page_bytes - 1),
                                     memory_order_relaxed);
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
