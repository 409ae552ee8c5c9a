/*
 * cleanup.h - a local that owns something releases itself, so every return is a safe way out.
 *
 *     CLEANUP(ring_freep) struct ring *ring = NULL;
 */
#ifndef ISOSCOPE_CLEANUP_H
#define ISOSCOPE_CLEANUP_H

#define CLEANUP(f) __attribute__((cleanup(f)))

#endif
