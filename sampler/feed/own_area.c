#include "own_area.h"

#include "sys.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

enum { STEP_BYTES = 64 * 1024, ERRNO_MAX = 4095 }; /* the largest page that kernels have */

static _Atomic uint64_t next; /* 0: it has not begun */

/* Libraries lie near the end of the address space, and programs at two thirds of it or at its
 * beginning. */
void own_area_begin(void)
{
    uint64_t middle = (uint64_t)&next / 2 & ~(uint64_t)(STEP_BYTES - 1), none = 0;

    atomic_compare_exchange_strong(&next, &none, middle);
}

/* A step between two: what grows finds room where it is. */
uint64_t own_area_next(uint64_t bytes)
{
    uint64_t steps = (bytes + STEP_BYTES - 1) / STEP_BYTES + 1;

    if (!atomic_load_explicit(&next, memory_order_relaxed))
        return 0;
    return atomic_fetch_add_explicit(&next, steps * STEP_BYTES, memory_order_relaxed);
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
