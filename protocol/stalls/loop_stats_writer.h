/*
 * loop_stats_writer.h - loops on their way out as _LoopStats: each of them, threads that nobody can watch, frames, counted
 * in turns.
 *
 * Threads    The service thread.
 */
#ifndef ISOSCOPE_LOOP_STATS_WRITER_H
#define ISOSCOPE_LOOP_STATS_WRITER_H

#include "../rpc/reply_stream.h"

/* process_id 0: of every process; tid 0: of every thread. 0, -ISOSCOPE_NO_MEMORY, -ISOSCOPE_NOT_FOUND. */
int loop_stats_writer_new(struct reply_stream **out, struct profile *profile, uint64_t process_id,
                          int32_t tid, const char *envelope);

#endif
