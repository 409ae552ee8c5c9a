/*
 * own_area.h - addresses for what the sampler maps while the program runs.
 *
 *   own_area_reserve (once, at the start) -> own_area_take: memory
 *   own_area_begin (once, at its end)     -> own_area_next -> mmap(hint)
 *                                         -> own_area_remap -> mremap
 *
 * A program that has just unmapped memory may count on its addresses: it maps something else there
 * with MAP_FIXED, or asks whether they are free. The kernel gives such a hole to whoever maps next,
 * and a tick may come in between. So what ticks map goes to a part of the address space where
 * programs have nothing. Where that is taken, or its end is reached, the kernel chooses.
 * The first of it is in one piece, next to the libraries: each piece, and each part of the address
 * space that is far from others, costs at a fork.
 *
 * Ownership  What own_area_take gives stays mapped; its pages may be given back (madvise).
 * Threads    own_area_reserve, own_area_begin: one. The rest: any.
 * Signals    What is marked is SIGNAL_SAFE.
 */
#ifndef ISOSCOPE_OWN_AREA_H
#define ISOSCOPE_OWN_AREA_H

#include "signal_safe.h"

#include <stdbool.h>
#include <stdint.h>

/* Memory for what a small program needs, which costs nothing until it is touched. */
void own_area_reserve(void);
/* So many bytes of it, zeros, in pages of their own. 0: there is no room left. */
SIGNAL_SAFE uint64_t own_area_take(uint64_t bytes);
SIGNAL_SAFE bool own_area_took(uint64_t address);
/* From now on. Before, the kernel chooses: a start maps what it needs next to the libraries, where
 * that costs least. */
void own_area_begin(void);
/* Where so many bytes may go: a hint for mmap. 0: the kernel chooses. */
SIGNAL_SAFE uint64_t own_area_next(uint64_t bytes);
/* As mremap, to an address in this area. Returns it, or -errno. */
SIGNAL_SAFE long own_area_remap(const void *old, uint64_t old_bytes, uint64_t bytes);

#endif
