/*
 * stall_json.h - stalls, loops and what belongs to them as the wire's objects: one for replies and
 * events.
 *
 * Errors     NULL when out of memory.
 */
#ifndef ISOSCOPE_STALL_JSON_H
#define ISOSCOPE_STALL_JSON_H

#include "../../sampler/profile/stalls.h"

#include <jansson.h>
#include <stdbool.h>

/* _Stall. pid: of its process. */
json_t *stall_json(const struct stall *stall, int32_t pid, bool with_stacks);

/* _Loop, _LoopLimits, _UnwatchedThread, _CpuHigh. */
json_t *loop_json(const struct loop_info *loop, int32_t pid);
json_t *loop_limits_json(const uint32_t limits_ms[STALL_LEVEL_COUNT]);
json_t *unwatched_json(const struct unwatched_thread *thread, int32_t pid);
/* thread: its name, "" for the process. */
json_t *cpu_high_json(const struct cpu_high *high, int32_t pid, const char *thread);

/* The name of a thread that has left samples; "" for tid 0, and where nobody knows. */
enum { THREAD_NAME_BYTES = 16 };
void thread_name_of(char out[THREAD_NAME_BYTES], struct profile *profile, uint64_t process_id,
                    int32_t tid);

#endif
