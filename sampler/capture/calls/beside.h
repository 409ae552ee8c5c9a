/*
 * beside.h - the libraries that stand beside ours where they were asked for: libisoscope_alloc.so, libisoscope_lock.so.
 *
 *   preloaded with ours: by what they export; or loaded here, into a program that runs (injected.c)
 *
 * Threads    One at a time.
 */
#ifndef ISOSCOPE_BESIDE_H
#define ISOSCOPE_BESIDE_H

#include <stdbool.h>
#include <stdint.h>

/* Where addresses are marked (isoscope/memory.h); NULL: nobody sees allocations. */
uint8_t *beside_alloc_filter(void);
/* An address in libisoscope_lock.so; NULL: nobody sees waits. */
const void *beside_lock_calls(void);

/* Out of the folder of ours. False: the loader says why (dlerror). */
bool beside_load_alloc(void);
bool beside_load_lock(void);

#endif
