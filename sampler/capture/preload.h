/*
 * preload.h - what the jump to the loader (preload_<arch>.S) and cooperate.c need of preload.c.
 */
#ifndef ISOSCOPE_PRELOAD_H
#define ISOSCOPE_PRELOAD_H

#include <stdint.h>

/* Tells the sampler that modules may come, and gives the function to jump to. */
void *preload_next_dlopen(void);
void *preload_next_dlmopen(void);

/* The calling thread has the slot from now on; 0: none. */
void preload_keep_slot(uint32_t slot);

#endif
