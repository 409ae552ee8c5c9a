/*
 * perfetto_packets.h - single packets of a Perfetto trace: clock, tracks, events, interned tables,
 * samples.
 *
 * Numbers in the tables (iid) begin at 1 and stand for what comes later with the same sequence. The
 * first packet forgets all earlier ones, so that traces may be put one behind the other.
 *
 * Units      *_us: CLOCK_MONOTONIC microseconds, *_ns: nanoseconds, as in the trace.
 */
#ifndef ISOSCOPE_PERFETTO_PACKETS_H
#define ISOSCOPE_PERFETTO_PACKETS_H

#include "../text/json_writer.h"
#include "../../sampler/profile/snapshot.h"
#include "../../sampler/profile/timeline.h"

void perfetto_clock(struct json_text *bytes, int64_t now_us);
void perfetto_process(struct json_text *bytes, int32_t pid, const char *name);
void perfetto_thread(struct json_text *bytes, int32_t pid, int32_t tid, const char *name);

/* Tracks of events. uuid: of neither a process nor a thread: its highest bit is set. */
uint64_t perfetto_process_uuid(int32_t pid);
uint64_t perfetto_thread_uuid(int32_t pid, int32_t tid);
void perfetto_track(struct json_text *bytes, uint64_t uuid, uint64_t parent, const char *name);
/* series: NULL: the counter has one, and needs no name of it. */
void perfetto_counter_track(struct json_text *bytes, uint64_t uuid, uint64_t parent,
                            const char *name, const char *series);
enum perfetto_side { PERFETTO_BEGIN = 1, PERFETTO_END = 2, PERFETTO_INSTANT = 3 };
/* An end has no name and no arguments. */
void perfetto_event(struct json_text *bytes, enum perfetto_side side, uint64_t track, int64_t at_ns,
                    const struct timeline_event *event);
void perfetto_counter(struct json_text *bytes, uint64_t track, int64_t at_ns,
                      const struct timeline_argument *value);

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
