#include "part.h"

#include "own_area.h"
#include "sys.h"

#include <stddef.h>
#include <sys/mman.h>

enum { ERRNO_MAX = 4095 };

SIGNAL_SAFE_INLINE bool failed(long address)
{
    return address < 0 && address >= -ERRNO_MAX;
}

SIGNAL_SAFE_INLINE uint32_t window_of(const struct part *part, uint64_t offset)
{
    uint64_t times = offset / part->first_bytes;

    return times ? 64 - (uint32_t)__builtin_clzll(times) : 0;
}

SIGNAL_SAFE_INLINE uint64_t start_of(const struct part *part, uint32_t window)
{
    return window ? part->first_bytes << (window - 1) : 0;
}

SIGNAL_SAFE_INLINE uint64_t size_of(const struct part *part, uint32_t window)
{
    return (part->first_bytes << window) - start_of(part, window);
}

SIGNAL_SAFE_INLINE uint8_t *window_at(const struct part *part, uint32_t window)
{
    return atomic_load_explicit(&part->windows[window], memory_order_acquire);
}

void part_begin(struct part *part, uint8_t *place)
{
    atomic_store_explicit(&part->windows[0], place, memory_order_release);
}

void part_begin_behind(struct part *part, uint8_t *before)
{
    part->before = before;
}

void part_end(struct part *part)
{
    for (uint32_t window = part->before ? 0 : 1; window < PART_WINDOWS && window_at(part, window);
         window++)
        sys_call2(SYS_munmap, window_at(part, window) - PART_STEP_BYTES,
                  size_of(part, window) + PART_STEP_BYTES);
}

void part_over(struct part *part, uint8_t *whole)
{
    for (uint32_t window = 0; window < PART_WINDOWS && start_of(part, window) < part->bytes;
         window++)
        atomic_store_explicit(&part->windows[window], whole + start_of(part, window),
                              memory_order_release);
}

/* mremap of nothing to something larger maps the same memory once more, from there on. It needs no
 * descriptor, and what was advised about the window before holds for the new one, which begins with
 * that one's last step. Several threads may do so; one of them wins. */
SIGNAL_SAFE_INLINE bool map_window(struct part *part, uint32_t window)
{
    const uint8_t *last =
        window ? window_at(part, window - 1) + size_of(part, window - 1) - PART_STEP_BYTES
               : part->before;
    uint64_t bytes = size_of(part, window) + PART_STEP_BYTES;
    long map = own_area_remap(last, 0, bytes);
    uint8_t *none = NULL;

    if (failed(map))
        return false;
    if (!atomic_compare_exchange_strong_explicit(&part->windows[window], &none,
                                                 (uint8_t *)map + PART_STEP_BYTES,
                                                 memory_order_acq_rel, memory_order_relaxed))
        sys_call2(SYS_munmap, map, bytes);
    return true;
}

bool part_reach(struct part *part, uint64_t offset)
{
    uint32_t window = window_of(part, offset);

    for (uint32_t next = 0; next <= window; next++)
        if (!window_at(part, next) && !map_window(part, next))
            return false;
    return true;
}

uint64_t part_left(const struct part *part, uint64_t offset)
{
    return (part->first_bytes << window_of(part, offset)) - offset;
}

uint8_t *part_at(const struct part *part, uint64_t offset)
{
    uint32_t window = window_of(part, offset);
    uint8_t *at = window_at(part, window);

    return at ? at + (offset - start_of(part, window)) : NULL;
}
