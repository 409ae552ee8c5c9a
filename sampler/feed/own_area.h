/*
 * own_area.h - addresses for what the sampler maps while the program runs.
 *
 *   own_area_begin (once, at the start) -> own_area_next -> mmap(hint)
 *                                       -> own_area_remap -> mremap
 *
 * A program that has just unmapped memory may count on its addresses: it maps something else there
 * with MAP_FIXED, or asks whether they are free. The kernel gives such a hole to whoever maps next,
 * and a tick may come in between. So what ticks map goes to a part of the address space where
 * programs have nothing. Where that is taken, or its end is reached, the kernel chooses.
 *
 * Threads    own_area_begin: one. The rest: any.
 * Signals    What is marked is SIGNAL_SAFE.
 */
#ifndef ISOSCOPE_OWN_AREA_H
#define ISOSCOPE_OWN_AREA_H

#include "signal_safe.h"

#include <stdint.h>

/* From now on. Before, the kernel chooses: a start maps what it needs next to the libraries, where
 * that costs least. */
void own_area_begin(void);
/* Where so many bytes may go: a hint for mmap. 0: the kernel chooses. */
SIGNAL_SAFE uint64_t own_area_next(uint64_t bytes);
/* As mremap, to an address in this area. Returns it, or -errno. */
SIGNAL_SAFE long own_area_remap(const void *old, uint64_t old_bytes, uint64_t bytes);

#endif
