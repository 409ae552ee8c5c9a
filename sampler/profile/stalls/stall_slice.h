/*
 * stall_slice.h - a stall that has ended, as a slice of its loop's thread in the timeline.
 *
 *   teller -> stall_slice -> intake/collector.h (the holder of the events) -> every export
 */
#ifndef ISOSCOPE_STALL_SLICE_H
#define ISOSCOPE_STALL_SLICE_H

#include "../stalls.h"

void stall_slice_put(struct profile *profile, const struct stall *stall);

#endif
