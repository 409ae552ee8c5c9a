/*
 * frames_writer.h - frames on their way out as _TimelineFrames: a row for each, and sums behind them.
 *
 * Ownership  The writer owns the timeline, which has frames only, from a second before the span on:
 *            rates need them. The envelope is copied.
 * Threads    The service thread.
 */
#ifndef ISOSCOPE_FRAMES_WRITER_H
#define ISOSCOPE_FRAMES_WRITER_H

#include "timeline_order.h"
#include "../rpc/reply_stream.h"

/* refresh_rate: frames a second, not 0. Takes over timeline, also when it fails:
 * -ISOSCOPE_NO_MEMORY. */
int frames_writer_new(struct reply_stream **out, struct timeline *timeline,
                      const struct timeline_span *span, uint32_t refresh_rate,
                      const char *envelope);

#endif
