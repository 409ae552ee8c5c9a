/*
 * signal_safe.h - the mark of code that may run in the tick handler.
 *
 * A marked function does not allocate, lock, or call libc beyond the few names the
 * test `signal_safe` lists; its time is bounded. The mark puts it in a section of
 * its own, and the test reads the object files: it fails when that section refers
 * to code outside it.
 */
#ifndef ISOSCOPE_SIGNAL_SAFE_H
#define ISOSCOPE_SIGNAL_SAFE_H

#define SIGNAL_SAFE __attribute__((section(".text.signal_safe")))
/* A helper that never stands alone: its body lands in the marked function that calls it. */
#define SIGNAL_SAFE_INLINE static inline __attribute__((always_inline))

#endif
