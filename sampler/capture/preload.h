/*
 * preload.h - what the jump to the loader (preload_<arch>.S) needs of preload.c.
 */
#ifndef ISOSCOPE_PRELOAD_H
#define ISOSCOPE_PRELOAD_H

/* Tells the sampler that modules may come, and gives the function to jump to. */
void *preload_next_dlopen(void);
void *preload_next_dlmopen(void);

#endif
