/*
 * perfetto_packets.h - single packets of a Perfetto trace: clock, tracks, interned tables, samples.
 *
 * Numbers in the tables (iid) begin at 1 and stand for what comes later with the same sequence. The
 * first packet forgets all earlier ones, so that traces may be put one behind the other.
 *
 * Units      *_us: CLOCK_MONOTONIC microseconds; in the trace nanoseconds of the same clock.
 */
#ifndef ISOSCOPE_PERFETTO_PACKETS_H
#define ISOSCOPE_PERFETTO_PACKETS_H

#include "../text/json_writer.h"
#include "../../sampler/profile/snapshot.h"

void perfetto_clock(struct json_text *bytes, int64_t now_us);
void perfetto_process(struct json_text *bytes, int32_t pid, const char *name);
void perfetto_thread(struct json_text *bytes, int32_t pid, int32_t tid, const char *name);

/* index: of the library, function or frame in its snapshot. */
void perfetto_library(struct json_text *bytes, uint32_t index,
                      const struct snapshot_library *library);
void perfetto_function(struct json_text *bytes, uint32_t index, const char *name);
void perfetto_frame(struct json_text *bytes, uint32_t index, const struct snapshot_frame *frame,
                    const struct snapshot_function *function);
void perfetto_callstack(struct json_text *bytes, uint64_t iid,
                        const struct snapshot_sample *sample);
void perfetto_sample(struct json_text *bytes, int32_t pid, uint64_t callstack_iid,
                     const struct snapshot_sample *sample);

#endif
